#include "report/analyze_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/analyze_markdown.h"
#include "report/device_totals.h"
#include "report/result_tables.h"
#include "report/screen_parts.h"
#include "text/format_number.h"
#include "text/markdown_text.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr std::string_view kNoRanks =
    "no ranks to compare: this is not a run of several worker traces";

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

// Where none of the tables has a row.
std::string NothingText(const TraceAnalysis& trace, WholeTable table) {
  return fmt::format("{} {}", EmptyText(table), Whereabouts(trace));
}

// A table as it is shown, and which part of it that is.
struct PickedTable {
  Table table;
  std::optional<PickedRows> rows;
};

// Those that have rows, filtered, sorted and folded.
std::vector<PickedTable> Pick(std::vector<Table> tables, const ScreenOptions& options) {
  std::vector<PickedTable> picked;
  for (Table& table : tables) {
    if (table.rows.empty()) continue;
    const auto rows = PickRows(table, options.pick);
    if (options.table_top) FoldRows(table, *options.table_top);
    picked.push_back({std::move(table), rows});
  }
  return picked;
}

std::string PickedText(const PickedTable& picked) {
  if (!picked.rows) return "";
  return fmt::format("{} of {} rows shown", FormatCount(static_cast<int64_t>(picked.rows->shown)),
                     FormatCount(static_cast<int64_t>(picked.rows->of)));
}

// `if_empty`: the line when no table has a row.
std::string TablesText(std::vector<Table> tables, std::string_view if_empty,
                       const ScreenOptions& options) {
  std::string out;
  for (const PickedTable& picked : Pick(std::move(tables), options)) {
    if (!out.empty()) out += "\n";
    out += RenderText(picked.table, options.style);
    if (picked.rows) out += Painted(" " + PickedText(picked), Paint::kDim, options.style) + "\n";
  }
  return out.empty() ? fmt::format(" {}\n", if_empty) : out;
}

std::string TablesMarkdown(std::vector<Table> tables, std::string_view if_empty,
                           const ScreenOptions& options) {
  std::string out;
  for (const PickedTable& picked : Pick(std::move(tables), options)) {
    out += "\n" + RenderMarkdown(picked.table);
    if (picked.rows) out += "\n" + PickedText(picked) + "\n";
  }
  return out.empty() ? fmt::format("\n{}\n", MarkdownText(if_empty)) : out;
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

// One flag's tables: without rows where there is nothing to tell.
std::vector<Table> WholeTables(const TraceAnalysis& trace, WholeTable table,
                               const TextStyle& style) {
  const bool many_devices = trace.devices.size() > 1;
  const bool on_host = TotalsOf(trace.devices).on_host;
  switch (table) {
    case WholeTable::kKernels:
      return {KernelsTable(trace.kernels, TotalsOf(trace.devices), style)};
    case WholeTable::kCategories:
      return {CategoriesTable(trace.kernels)};
    case WholeTable::kOps:
      return {OpsTable(trace.ops.rows, !on_host, false, "OPERATORS", true),
              OpsTable(trace.ops.by_shape, !on_host, true, "OPERATORS BY SHAPE", true),
              OpsTable(trace.ops.key_averages.rows, !on_host, false, "AS PYTORCH'S key_averages()",
                       true)};
    case WholeTable::kLaunches: {
      Table figures = LaunchFiguresTable(trace.launches);
      if (trace.launches.gpu_events + trace.launches.without_correlation == 0) figures.rows.clear();
      return {std::move(figures), ApisTable(trace.launches.apis),
              ApisTable(trace.launches.other_apis, "OTHER CALLS"), QueuesTable(trace.launches)};
    }
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

}  // namespace

std::string AnalyzeText(const RunAnalysis& run, const ScreenOptions& options) {
  // The screen of one trace tells more than a table of one.
  const TraceAnalysis* only = OnlyTrace(run);
  if (only == nullptr) return RunScreen(run, options);
  const std::string others = run.traces.size() > 1 ? OtherFilesText(run, options.style)
                                                   : SkippedText(run.skipped, options.style);
  return TraceScreen(*only, run.ranks, options) + (others.empty() ? "" : "\n" + others);
}

std::string WholeTablesText(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                            const ScreenOptions& options) {
  const TextStyle& style = options.style;
  std::string out;
  for (const WholeTable which : tables) {
    if (!out.empty()) out += "\n";
    if (which == WholeTable::kRanks) {
      out += TablesText({RanksTable(run.ranks, style)}, kNoRanks, options);
      continue;
    }
    bool first = true;
    for (const TraceAnalysis& trace : run.traces) {
      if (run.traces.size() > 1) {
        out += first ? "" : "\n";
        out += Painted(" " + Wrap(VisibleText(trace.path, style.unicode), style.width - 1, 1,
                                  style.unicode),
                       Paint::kBold, style) +
               "\n";
      }
      out += TablesText(WholeTables(trace, which, style), NothingText(trace, which), options);
      if (which == WholeTable::kGaps) out += UnderGaps(trace, style);
      first = false;
    }
  }
  return out;
}

std::string WholeTablesMarkdown(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                                const ScreenOptions& options) {
  std::string out;
  for (const WholeTable which : tables) {
    if (which == WholeTable::kRanks) {
      out += TablesMarkdown({RanksTable(run.ranks, TextStyle{})}, kNoRanks, options);
      continue;
    }
    for (const TraceAnalysis& trace : run.traces) {
      if (run.traces.size() > 1) out += fmt::format("\n### {}\n", MarkdownText(trace.path));
      out += TablesMarkdown(WholeTables(trace, which, options.style), NothingText(trace, which),
                            options);
    }
  }
  // More rows than a document of this size can hold need not be tried.
  const size_t top = options.table_top.value_or(2 * kMarkdownLimit / 32);
  if (out.size() <= kMarkdownLimit || top <= 1) return out.substr(1);
  ScreenOptions harder = options;
  harder.table_top = std::min(top, 2 * kMarkdownLimit / 32) / 2;
  return WholeTablesMarkdown(run, tables, harder);
}

std::vector<Table> EmptyTables(const std::vector<WholeTable>& tables) {
  std::vector<Table> all;
  for (const WholeTable which : tables) {
    if (which == WholeTable::kRanks) all.push_back(RanksTable({}, {}));
    for (Table& table : WholeTables(TraceAnalysis{}, which, {})) all.push_back(std::move(table));
  }
  return all;
}

}  // namespace tacho
