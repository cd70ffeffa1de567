#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/tables/result_tables.h"
#include "report/words/kernel_names.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

// "rotary_embedding_kernel" of "vllm::rotary_embedding_kernel<BFloat16, true>".
std::string BaseOf(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const size_t scope = name.rfind("::");
  return std::string(scope == std::string_view::npos ? name : name.substr(scope + 2));
}

// What the work is: short names of the kernels; with `base`, without namespaces and arguments.
std::string WhatOf(const Opportunity& of, bool base) {
  if (of.kind == OpportunityKind::kOverlap) return "shared expert beside dispatch, combine";
  std::vector<std::string> names =
      ShownKernelNames(std::vector<std::string_view>(of.kernels.begin(), of.kernels.end()), {});
  if (base) std::ranges::transform(names, names.begin(), BaseOf);
  return fmt::format("{}", fmt::join(names, " + "));
}

}  // namespace

Table OpportunitiesTable(const std::vector<Opportunity>& opportunities, bool main,
                         std::string title) {
  constexpr double kLeastShare = 0.01;
  Table table{
      "opportunities",
      {Col{"kind", std::move(title), kText}.Means("`fuse` or `overlap`, as in the JSON"),
       Col{"phase", "phase", kText}.Means("phase of the steps"),
       Col{"what", "what", kText}.Means("short names of the kernels, or the two sides").Stretches(),
       Col{"layers", "layers", kCount}, Col{"steps", "", kCount}.FileOnly(),
       Col{"count", "", kCount}.FileOnly(), Col{"", "at most", kDuration}.ScreenOnly().UnitGroup(1),
       Col{"", "gaps", kDuration}.ScreenOnly().UnitGroup(1),
       Col{"most_ns", "", kDuration}.FileOnly(), Col{"gap_ns", "", kDuration}.FileOnly(),
       Col{"exposed_ns", "", kDuration}.FileOnly(), Col{"movable_ns", "", kDuration}.FileOnly(),
       Col{"share", "share", kShare}},
      {}};
  for (const Opportunity& of : opportunities) {
    if (main && of.share < kLeastShare) continue;
    const bool fuse = of.kind == OpportunityKind::kFuse;
    const auto steps = static_cast<int64_t>(of.steps);
    table.Add({main ? (fuse ? "one kernel" : "hidden") : std::string(OpportunityKindId(of.kind)),
               std::string(PhaseName(of.phase)), WhatOf(of, main), CountCell(of.layers),
               CountCell(of.steps), CountCell(of.count), of.most.ns / steps,
               fuse ? Cell(of.gaps.ns / steps) : Cell(), of.most.ns,
               fuse ? Cell(of.gaps.ns) : Cell(), fuse ? Cell() : Cell(of.exposed.ns),
               fuse ? Cell() : Cell(of.movable.ns), of.share});
  }
  return table;
}

}  // namespace tacho
