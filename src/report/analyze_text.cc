#include "report/analyze_text.h"

#include <fmt/format.h>

#include <string_view>

#include "report/device_totals.h"
#include "report/result_tables.h"
#include "report/screen_parts.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

std::string_view EmptyText(WholeTable table) {
  switch (table) {
    case WholeTable::kKernels:
    case WholeTable::kCategories:
      return "no kernel";
    case WholeTable::kOps:
      return "no host operator";
    case WholeTable::kLaunches:
      return "no launch and no other host call";
    case WholeTable::kCopies:
      return "no copy and no memset";
    case WholeTable::kGaps:
      return "no idle gap";
    case WholeTable::kSteps:
      return "no step annotation";
    case WholeTable::kDevices:
      return "no device work";
    case WholeTable::kRanks:
      break;
  }
  return "";
}

// `if_empty`: the line when no table has a row.
std::string TablesText(std::vector<Table> tables, std::string_view if_empty,
                       const ScreenOptions& options) {
  std::string out;
  for (Table& table : tables) {
    if (table.rows.empty()) continue;
    if (!out.empty()) out += "\n";
    if (options.table_top) FoldRows(table, *options.table_top);
    out += RenderText(table, options.style);
  }
  return out.empty() ? fmt::format(" {}\n", if_empty) : out;
}

// What the tables of gaps leave open.
std::string UnderGaps(const TraceAnalysis& trace, const TextStyle& style) {
  std::string out;
  if (const std::string shorter = ShortGapsText(trace.devices); !shorter.empty()) {
    out = Painted(" " + shorter, Paint::kDim, style) + "\n";
  }
  const std::string legend = IdleLegend(trace.idle, style);
  return legend.empty() ? out : out + "\n" + legend;
}

}  // namespace

std::vector<Table> WholeTables(const TraceAnalysis& trace, WholeTable table,
                               const TextStyle& style) {
  const bool many_devices = trace.devices.size() > 1;
  const bool on_host = TotalsOf(trace.devices).on_host;
  switch (table) {
    case WholeTable::kKernels:
      return {KernelsTable(trace.kernels, TotalsOf(trace.devices), style)};
    case WholeTable::kCategories:
      return {CategoriesTable(trace.kernels)};
    case WholeTable::kOps: {
      std::vector<Table> tables = {OpsTable(trace.ops.rows, !on_host, false)};
      if (!trace.ops.by_shape.empty()) {
        tables.push_back(OpsTable(trace.ops.by_shape, !on_host, true, "OPERATORS BY SHAPE"));
      }
      if (!trace.ops.key_averages.rows.empty()) {
        tables.push_back(
            OpsTable(trace.ops.key_averages.rows, !on_host, false, "AS PYTORCH'S key_averages()"));
      }
      return tables;
    }
    case WholeTable::kLaunches:
      if (trace.launches.gpu_events + trace.launches.without_correlation == 0) {
        return {ApisTable(trace.launches.apis),
                ApisTable(trace.launches.other_apis, "OTHER CALLS")};
      }
      return {LaunchFiguresTable(trace.launches), ApisTable(trace.launches.apis),
              ApisTable(trace.launches.other_apis, "OTHER CALLS"), QueuesTable(trace.launches)};
    case WholeTable::kCopies:
      return {CopiesTable(trace.copies)};
    case WholeTable::kGaps:
      return {IdleCausesTable(trace.idle),
              GapsTable(LongGaps(trace.idle), trace.span.start, many_devices, style)};
    case WholeTable::kSteps:
      return {StepPhasesTable(trace.steps), StepsTable(trace.steps, trace.span.start)};
    case WholeTable::kDevices:
      return {DevicesTable(trace.devices), OverlapsTable(trace.devices),
              StreamsTable(trace.devices)};
    case WholeTable::kRanks:
      return {};
  }
  return {};
}

std::string AnalyzeText(const RunAnalysis& run, const ScreenOptions& options) {
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  if (run.traces.size() > 1 && ranks.size() != 1) return RunScreen(run, options);
  // One worker, maybe beside its front-end's files: its own screen tells more than a table of one.
  const TraceAnalysis& trace = ranks.empty() ? run.traces.front() : *ranks.front();
  const std::string others =
      run.traces.size() > 1 ? OtherFilesText(run, options.style) : SkippedText(run, options.style);
  return TraceScreen(trace, run.ranks, options) + (others.empty() ? "" : "\n" + others);
}

std::string WholeTablesText(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                            const ScreenOptions& options) {
  const TextStyle& style = options.style;
  std::string out;
  for (const WholeTable which : tables) {
    if (!out.empty()) out += "\n";
    if (which == WholeTable::kRanks) {
      out += TablesText({RanksTable(run.ranks, style)},
                        "no ranks to compare: this is not a run of several worker traces", options);
      continue;
    }
    bool first = true;
    for (const TraceAnalysis& trace : run.traces) {
      if (run.traces.size() > 1) {
        out += first ? "" : "\n";
        out += Painted(" " + VisibleText(trace.path, style.unicode), Paint::kBold, style) + "\n";
      }
      out += TablesText(WholeTables(trace, which, style),
                        fmt::format("{} {}", EmptyText(which), Whereabouts(trace)), options);
      if (which == WholeTable::kGaps) out += UnderGaps(trace, style);
      first = false;
    }
  }
  return out;
}

}  // namespace tacho
