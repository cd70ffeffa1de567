#include <fmt/format.h>

#include <optional>

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

Table RooflineTable(const Roofline& roofline, std::optional<Phase> blocks_of, std::string title) {
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
  for (const RoofBlock& block : roofline.blocks) {
    if (!blocks_of || block.phase == *blocks_of)
      AddRow(block.phase, LayerBlockId(block.block), block, table);
  }
  return table;
}

Table GemmsTable(const std::vector<GemmRow>& gemms, std::string title) {
  Table table{"gemms",
              {Col{"op", std::move(title), kText}, Col{"", "M x N x K", kText}.ScreenOnly(),
               Col{"type", "type", kText}, Col{"batch", "", kCount}.FileOnly(),
               Col{"m", "", kCount}.FileOnly(), Col{"n", "", kCount}.FileOnly(),
               Col{"k", "", kCount}.FileOnly(), Col{"count", "count", kCount},
               Col{"device_ns", "total", kDuration}.UnitGroup(1),
               Col{"roof_ns", "at the roof", kDuration}.UnitGroup(1), Col{"mfu", "MFU", kShare},
               Col{"mbu", "MBU", kShare}, Col{"", "TFLOP/s", kNumber}.ScreenOnly(),
               Col{"flops", "", kNumber}.FileOnly(), Col{"bytes", "", kNumber}.FileOnly()},
              {}};
  for (const GemmRow& row : gemms) {
    std::string sizes = fmt::format("{} x {} x {}", row.m, row.n, row.k);
    if (row.batch != 1) sizes = fmt::format("{} of {}", row.batch, sizes);
    table.Add({row.op, std::move(sizes), row.type, row.batch, row.m, row.n, row.k,
               CountCell(row.count), row.device.ns, row.roof ? Cell(row.roof->time.ns) : Cell(),
               row.roof ? Cell(row.roof->mfu) : Cell(), row.roof ? Cell(row.roof->mbu) : Cell(),
               row.flops / static_cast<double>(row.device.ns) / 1e3, row.flops, row.bytes});
  }
  return table;
}

}  // namespace tacho
