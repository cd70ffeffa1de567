#include "report/tables/result_tables.h"
#include "report/words/opportunity_words.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

}  // namespace

Table OpportunitiesTable(const std::vector<Opportunity>& opportunities, bool main,
                         std::string title) {
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
    if (main && of.share < kLeastShownShare) continue;
    const bool fuse = of.kind == OpportunityKind::kFuse;
    const auto steps = static_cast<int64_t>(of.steps);
    table.Add({main ? (fuse ? "one kernel" : "hidden") : std::string(OpportunityKindId(of.kind)),
               std::string(PhaseName(of.phase)), OpportunityText(of, main), CountCell(of.layers),
               CountCell(of.steps), CountCell(of.count), of.most.ns / steps,
               fuse ? Cell(of.gaps.ns / steps) : Cell(), of.most.ns,
               fuse ? Cell(of.gaps.ns) : Cell(), fuse ? Cell() : Cell(of.exposed.ns),
               fuse ? Cell() : Cell(of.movable.ns), of.share});
  }
  return table;
}

}  // namespace tacho
