#include "report/tables/compare_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/compare/metrics.h"
#include "report/words/block_words.h"
#include "report/words/kernel_names.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

// Figures without bounds are shown from this relative change on.
constexpr double kWorthShowing = 0.005;
// Share of the whole change from which another batch mix stands out.
constexpr double kLargeMix = 0.1;

int64_t Rounded(double ns) { return std::llround(ns); }

Cell NsCell(double ns) { return Rounded(ns); }
Cell HalfCell(const Change& change) {
  return change.half_width ? Cell(static_cast<int64_t>(std::ceil(*change.half_width))) : Cell();
}
Cell ShareCell(const std::optional<double>& share) { return share ? Cell(*share) : Cell(); }

// The columns base, new, change, ± and change in percent. `group`: columns of one group share a
// unit.
std::vector<TableColumn> ChangeColumns(size_t group) {
  return {Col{"base_ns", "base", kDuration}.UnitGroup(group),
          Col{"new_ns", "new", kDuration}.UnitGroup(group),
          Col{"difference_ns", "change", kDuration}.UnitGroup(group).Adds(),
          Col{"half_width_ns", "±", kDuration}.UnitGroup(group).GivesWay(),
          Col{"relative", "change", kShare}};
}
// The same columns for plain numbers.
std::vector<TableColumn> NumberColumns() {
  return {Col{"base", "base", kNumber}, Col{"new", "new", kNumber},
          Col{"difference", "change", kNumber}, Col{"half_width", "±", kNumber}.GivesWay(),
          Col{"relative", "change", kShare}};
}
void AddCells(const Change& change, std::vector<Cell>& cells) {
  for (Cell cell : {NsCell(change.base), NsCell(change.now), NsCell(change.difference()),
                    HalfCell(change), ShareCell(change.relative())})
    cells.push_back(std::move(cell));
}
// A count is shown as a whole number, unless it is a mean and has a fraction.
Cell NumberCell(double value, bool is_count) {
  return is_count && value == std::round(value) ? Cell(Rounded(value)) : Cell(value);
}
void AddNumberCells(const Change& change, bool is_count, std::vector<Cell>& cells) {
  for (Cell cell : {NumberCell(change.base, is_count), NumberCell(change.now, is_count),
                    NumberCell(change.difference(), is_count),
                    change.half_width ? NumberCell(*change.half_width, is_count) : Cell(),
                    ShareCell(change.relative())})
    cells.push_back(std::move(cell));
}
// The number of calls: "34 -> 30", or "4" if both sides have as many.
std::string CallsText(const KernelChange& kernel) {
  const auto text = [](double calls) {
    return calls < 999.5 ? fmt::format("{:.3g}", calls)
                         : FormatCount(static_cast<uint64_t>(std::llround(calls)));
  };
  const std::string base = text(kernel.base_calls), now = text(kernel.now_calls);
  return base == now ? base : fmt::format("{} -> {}", base, now);
}
// Changes beyond noise are bold, others dim.
Paint PaintOf(const Change& change) {
  if (!change.half_width) return Paint::kPlain;
  return change.IsBeyondNoise() ? Paint::kBold : Paint::kDim;
}

}  // namespace

bool StandsOut(const Waterfall::Bar& bar, const Waterfall& fall) {
  const double change = static_cast<double>(fall.now - fall.base);
  return bar.beyond_noise || (bar.name == kBatchMix &&
                              static_cast<double>(std::abs(bar.ns)) > kLargeMix * std::abs(change));
}

std::vector<NamedChange> BusyAndIdle(const std::vector<NamedChange>& parts) {
  std::vector<NamedChange> both = {{"busy", Change{0, 0, 0.0}}};
  for (const NamedChange& part : parts) {
    if (IsIdlePart(part.name)) {
      both.push_back(part);
      continue;
    }
    Change& busy = both.front().change;
    busy.base += part.change.base;
    busy.now += part.change.now;
    *busy.half_width += part.change.half_width.value_or(0);
  }
  return both;
}

Table ChangedStepsTable(const RunChanges& changes) {
  Table table{"steps", {Col{"phase", "step", kText}, Col{"figure", "", kText}}, {}};
  for (TableColumn& column : ChangeColumns(0)) table.columns.push_back(std::move(column));
  table.columns.push_back(Col{"base_steps", "base steps", kCount}.GivesWay(2));
  table.columns.push_back(Col{"new_steps", "new steps", kCount}.GivesWay(2));
  const auto add = [&](const PhaseChange& phase, const std::string& figure, const Change& change) {
    std::vector<Cell> cells = {std::string(PhaseName(phase.phase)), figure};
    AddCells(change, cells);
    cells.push_back(CountCell(phase.steps[0]));
    cells.push_back(CountCell(phase.steps[1]));
    table.Add(std::move(cells), PaintOf(change));
  };
  for (const PhaseChange& phase : changes.phases) {
    if (!phase.cannot_tell.empty()) continue;
    add(phase, "at equal batch", phase.step);
    add(phase, "all", phase.mean);
    if (phase.p50) add(phase, "p50", *phase.p50);
    if (phase.p99) add(phase, "p99", *phase.p99);
    if (!changes.across) continue;
    add(phase, "device busy", BusyAndIdle(phase.parts).front().change);
    if (!phase.blocks.compared()) continue;
    add(phase, "all work, added up", phase.blocks.work);
    add(phase, "overlap", phase.blocks.overlap);
  }
  return table;
}

Table WaterfallTable(const Waterfall& fall, const std::vector<NamedChange>& parts,
                     std::string name) {
  Table table{std::move(name), {Col{"part", "part", kText}.Stretches()}, {}};
  for (TableColumn& column : ChangeColumns(0)) table.columns.push_back(std::move(column));
  std::vector<Waterfall::Bar> bars = fall.bars;
  std::stable_partition(bars.begin(), bars.end(),
                        [&](const Waterfall::Bar& bar) { return StandsOut(bar, fall); });
  for (const Waterfall::Bar& bar : bars) {
    const auto part = std::ranges::find(parts, bar.name, &NamedChange::name);
    const Change change = part == parts.end() ? Change{} : part->change;
    std::vector<Cell> cells = {bar.name};
    AddCells(change, cells);
    cells[3] = bar.ns;  // rounded so that all rows add up
    table.Add(std::move(cells), PaintOf(change));
  }
  return table;
}

Table ChangedKernelsTable(const std::vector<KernelChange>& kernels, std::string name,
                          const TextStyle& style, ShownKernels which) {
  Table table{std::move(name),
              {Col{"kernel", "kernel", kText}.Stretches().Distinct(), Col{"kind", "what", kText},
               Col{"name", "", kText}.FileOnly(), Col{"category", "category", kText}.GivesWay(3)},
              {}};
  for (TableColumn& column : ChangeColumns(0)) table.columns.push_back(std::move(column));
  table.columns.push_back(Col{"calls", "calls", kText}.ScreenOnly().GivesWay(2));
  table.columns.push_back(Col{"base_calls", "", kNumber}.FileOnly());
  table.columns.push_back(Col{"new_calls", "", kNumber}.FileOnly());
  std::vector<std::string_view> names;
  for (const KernelChange& kernel : kernels) names.push_back(kernel.name);
  const std::vector<std::string> shown = ShownKernelNames(names, style);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelChange& kernel = kernels[i];
    if (which == ShownKernels::kChanged && kernel.kind == KernelChange::Kind::kSame) continue;
    // From one measurement a side, "same" would be unfounded, so the cell stays empty.
    const bool known = kernel.time.half_width || kernel.kind != KernelChange::Kind::kSame;
    std::vector<Cell> cells = {shown[i], known ? std::string(KernelChangeName(kernel.kind)) : "",
                               kernel.name, kernel.category};
    AddCells(kernel.time, cells);
    cells.emplace_back(CallsText(kernel));
    cells.emplace_back(kernel.base_calls);
    cells.emplace_back(kernel.now_calls);
    table.Add(std::move(cells));
  }
  return table;
}

Table ChangedBlocksTable(const BlocksChange& blocks, std::string name) {
  Table table{std::move(name), {Col{"block", "block", kText}.Stretches()}, {}};
  for (TableColumn& column : ChangeColumns(0)) table.columns.push_back(std::move(column));
  table.columns.push_back(Col{"overlap_ns", "overlap", kDuration}.UnitGroup(0).GivesWay(2));
  table.columns.push_back(Col{"layers", "layers", kText});
  const auto add = [&](bool beyond_noise) {
    for (const BlockChange& block : blocks.blocks) {
      if (block.IsBeyondNoise() != beyond_noise) continue;
      std::vector<Cell> cells = {std::string(LayerBlockId(block.block))};
      AddCells(block.device, cells);
      cells.push_back(NsCell(block.overlap.difference()));
      cells.emplace_back(BlockLayersText(block));
      table.Add(std::move(cells), beyond_noise ? Paint::kBold : Paint::kDim);
    }
    if (blocks.gap.IsBeyondNoise() != beyond_noise) return;
    std::vector<Cell> cells = {"gaps"};
    AddCells(blocks.gap, cells);
    cells.resize(table.columns.size());
    table.Add(std::move(cells), PaintOf(blocks.gap));
  };
  add(true);
  add(false);
  return table;
}

Table ChangedFiguresTable(const std::vector<NamedChange>& figures, std::string name,
                          std::string title, Unit unit) {
  Table table{std::move(name),
              {Col{"figure", std::move(title), kText}.Stretches(), Col{"base", "base", unit},
               Col{"new", "new", unit}, Col{"relative", "change", kShare}},
              {}};
  for (const NamedChange& figure : figures) {
    if (std::abs(figure.change.relative().value_or(1)) < kWorthShowing) continue;
    const auto cell = [&](double value) { return unit == kDuration ? NsCell(value) : Cell(value); };
    table.Add({figure.name, cell(figure.change.base), cell(figure.change.now),
               ShareCell(figure.change.relative())});
  }
  return table;
}

Table ChangedLoadTimesTable(const std::vector<NamedChange>& load) {
  Table table{"load_times", {Col{"figure", "load", kText}}, {}};
  for (TableColumn& column : ChangeColumns(0)) table.columns.push_back(std::move(column));
  for (const NamedChange& figure : load) {
    if (!IsLoadTime("load." + figure.name)) continue;
    std::vector<Cell> cells = {figure.name};
    AddCells(figure.change, cells);
    table.Add(std::move(cells), PaintOf(figure.change));
  }
  return table;
}

Table ChangedLoadNumbersTable(const std::vector<NamedChange>& load) {
  Table table{"load", {Col{"figure", "load", kText}}, {}};
  for (TableColumn& column : NumberColumns()) table.columns.push_back(std::move(column));
  for (const NamedChange& figure : load) {
    if (IsLoadTime("load." + figure.name)) continue;
    std::vector<Cell> cells = {figure.name == "throughput" ? "throughput (tokens/s)"
                               : figure.name == "requests" ? "requests (1/s)"
                                                           : figure.name};
    AddNumberCells(figure.change, IsLoadCount("load." + figure.name), cells);
    table.Add(std::move(cells), PaintOf(figure.change));
  }
  return table;
}

Table MetricsTable(const RunChanges& changes) {
  Table table{"metrics",
              {Col{"metric", "metric", kText}.Stretches(), Col{"base", "base", kNumber},
               Col{"new", "new", kNumber}, Col{"difference", "difference", kNumber},
               Col{"half_width", "±", kNumber}, Col{"relative", "change", kShare},
               Col{"verdict", "verdict", kText}},
              {}};
  for (const MetricChange& metric : MetricsOf(changes)) {
    const Change& change = metric.change;
    std::vector<Cell> cells = {metric.name};
    AddNumberCells(change, metric.counts || IsLoadCount(metric.name), cells);
    cells.emplace_back(std::string(!change.half_width ? "no bounds"
                                   : change.IsBeyondNoise()
                                       ? (change.difference() > 0 ? "more" : "less")
                                       : "within noise"));
    table.Add(std::move(cells));
  }
  return table;
}

}  // namespace tacho
