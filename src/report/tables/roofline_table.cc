#include <algorithm>
#include <map>

#include "report/tables/result_tables.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

void AddRow(Phase phase, std::string_view block, const RoofWork& of, Table& table) {
  const auto steps = static_cast<double>(of.steps);
  const bool computes = of.flops + of.bytes > 0;
  const auto mean = [&](DurationNs sum) { return sum.ns / static_cast<int64_t>(of.steps); };
  table.Add({std::string(PhaseName(phase)), std::string(block), CountCell(of.steps), of.time.ns,
             of.roof.ns, of.flops, of.bytes, of.link_bytes, mean(of.time), mean(of.roof),
             mean(of.time - of.roof), computes ? Cell(of.mfu) : Cell(),
             computes ? Cell(of.mbu) : Cell(), computes ? Cell(of.flops / steps / 1e9) : Cell(),
             computes ? Cell(static_cast<int64_t>(of.bytes / steps)) : Cell()},
            block.empty() ? Paint::kBold : Paint::kPlain);
}

}  // namespace

Table RooflineTable(const Roofline& roofline, bool main_phase, std::string title) {
  Table table{"roofline",
              {Col{"phase", std::move(title), kText}.Means("phase of the steps"),
               Col{"block", "block", kText}.Means("block of the model; empty: the whole phase"),
               Col{"steps", "", kCount}.FileOnly(), Col{"ns", "", kDuration}.FileOnly(),
               Col{"roof_ns", "", kDuration}.FileOnly(), Col{"flops", "", kNumber}.FileOnly(),
               Col{"bytes", "", kNumber}.FileOnly(), Col{"link_bytes", "", kNumber}.FileOnly(),
               Col{"", "a step", kDuration}.ScreenOnly().UnitGroup(1),
               Col{"", "at the roof", kDuration}.ScreenOnly().UnitGroup(1),
               Col{"", "above it", kDuration}.ScreenOnly().UnitGroup(1), Col{"mfu", "MFU", kShare},
               Col{"mbu", "MBU", kShare}, Col{"", "GFLOP", kNumber}.ScreenOnly(),
               Col{"", "moves", kBytes}.ScreenOnly()},
              {}};
  for (const RoofPhase& phase : roofline.phases) AddRow(phase.phase, "", phase, table);
  std::map<Phase, DurationNs> times;
  for (const RoofBlock& block : roofline.blocks) times[block.phase] += block.time;
  const auto most = std::ranges::max_element(times, {}, [](const auto& of) { return of.second; });
  for (const RoofBlock& block : roofline.blocks) {
    if (!main_phase || block.phase == most->first)
      AddRow(block.phase, LayerBlockId(block.block), block, table);
  }
  return table;
}

}  // namespace tacho
