#include "report/tables/whole_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "report/device_totals.h"
#include "report/documents/analyze_markdown.h"
#include "report/documents/model_parts.h"
#include "report/documents/report_parts.h"
#include "report/documents/requests_document.h"
#include "report/tables/finding_tables.h"
#include "report/tables/graph_tables.h"
#include "report/tables/result_tables.h"
#include "report/words/graph_words.h"
#include "report/words/integrity_words.h"
#include "report/words/layer_words.h"
#include "report/words/request_words.h"
#include "report/words/roofline_words.h"
#include "report/words/source_words.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr std::string_view kNoRanks =
    "no ranks to compare: this is not a run of several worker traces";

// Adds the tables that have rows, filtered and sorted as `options.pick` says. Adds the text
// `if_empty` if no table has rows.
void AddTables(Document& document, std::vector<Table> tables, std::string_view if_empty,
               const ScreenOptions& options) {
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  if (tables.empty()) document.Add(Paragraph{std::string(if_empty)});
  for (Table& table : tables) {
    const auto rows = PickRows(table, options.pick);
    if (&table != &tables.front()) document.Add(Gap{});
    document.Add(TitledTable{.table = std::move(table),
                             .screen_rows = options.table_top.value_or(SIZE_MAX)});
    if (!rows) continue;
    document.Add(Paragraph{
        fmt::format("{} of {} rows shown", FormatCount(rows->shown), FormatCount(rows->of)),
        Paint::kDim});
  }
}

// Adds how many short gaps the table leaves out, and what the causes mean.
void AddUnderGaps(Document& document, const TraceAnalysis& trace) {
  uint64_t gaps = 0;
  for (const DeviceTime& device : trace.devices) gaps += device.gaps.count - device.gaps.over_1us;
  if (gaps > 0)
    document.AddForScreen(
        Paragraph{FormatCounted(gaps, "gap") + " of 1 us or less not listed", Paint::kDim});
  if (trace.idle.causes.empty()) return;
  document.Add(Gap{});
  AddIdleLegend(document, trace.idle);
}

// The tables of one flag, and the text that is shown if none of them has rows.
struct AskedTables {
  std::string_view if_empty;
  std::vector<Table> tables;
};

AskedTables WholeTables(const TraceAnalysis& trace, WholeTable table, const TextStyle& style) {
  const bool many_devices = trace.devices.size() > 1;
  const bool on_host = TotalsOf(trace.devices).on_host;
  const auto numbered = [&](Table all) {
    return IsPart(trace) ? WithoutNumbers(std::move(all)) : std::move(all);
  };
  switch (table) {
    case WholeTable::kKernels:
      return {"no kernel", {KernelsTable(trace.kernels, TotalsOf(trace.devices), style)}};
    case WholeTable::kCategories:
      return {"no kernel", {CategoriesTable(trace.kernels)}};
    case WholeTable::kOps:
      return {"no host operator",
              {OpsTable(trace.ops.rows, !on_host, false, "OPERATORS", true),
               OpsTable(trace.ops.by_shape, !on_host, true, "OPERATORS BY SHAPE", true),
               OpsTable(trace.ops.key_averages.rows, !on_host, false, "AS PYTORCH'S key_averages()",
                        true)}};
    case WholeTable::kLaunches: {
      Table figures = LaunchFiguresTable(trace.launches);
      if (trace.launches.gpu_events + trace.launches.without_correlation == 0) figures.rows.clear();
      return {"no launch and no other host call",
              {std::move(figures), ApisTable(trace.launches.apis),
               ApisTable(trace.launches.other_apis, "OTHER CALLS"), QueuesTable(trace.launches)}};
    }
    case WholeTable::kCopies:
      return {"no copy and no memset", {CopiesTable(trace.copies)}};
    case WholeTable::kMemory: {
      std::vector<Table> tables{MemoryDevicesTable(trace.memory, trace.run_zero())};
      for (const DeviceMemory& device : trace.memory.devices)
        tables.push_back(MemoryPeakTable({&device, 1}, "ALIVE AT THE PEAK OF " + device.device));
      return {"no event of memory", std::move(tables)};
    }
    case WholeTable::kGaps:
      return {"no idle gap",
              {IdleCausesTable(trace.idle),
               numbered(GapsTable(LongGaps(trace.idle), trace.run_zero(), many_devices, style))}};
    case WholeTable::kSteps:
      return {"no step annotation",
              {StepPhasesTable(trace.steps), numbered(StepsTable(trace.steps, trace.run_zero()))}};
    case WholeTable::kGraphs:
      return {"no graph",
              {ReplayedGraphsTable(trace.graphs), GraphNodesTable(trace.graphs, style, true)}};
    case WholeTable::kLayers:
      return {"no layer", {LayerBlocksTable(trace.layers), LayersTable(trace.layers)}};
    case WholeTable::kRoofline:
      return {"no roofline", {RooflineTable(trace.roofline), GemmsTable(trace.ops.gemms)}};
    case WholeTable::kSources:
      return {"no source", {SourcesTable(trace.sources, style)}};
    case WholeTable::kDevices:
      return {
          "no device work",
          {DevicesTable(trace.devices), OverlapsTable(trace.devices), StreamsTable(trace.devices)}};
    case WholeTable::kRanks:
    case WholeTable::kRequests:
    case WholeTable::kFindings:
      break;
  }
  return {};
}

// What may be missing only because --window or --device leaves it out; "" for a whole trace.
std::string OfThisPart(const TraceAnalysis& trace) {
  if (!IsPart(trace)) return "";
  return fmt::format(" {}; the whole trace may have it", Whereabouts(trace));
}

// The text that replaces tables without rows. `none`: what is missing, such as "no kernel".
std::string WhyEmpty(const TraceAnalysis& trace, WholeTable which, std::string_view none) {
  if (trace.notes.CountOf(NoteId::kMixedRanks) > 0)
    return "no figure of a rank: the file holds several ranks as one";
  if (which == WholeTable::kGaps && !trace.idle.known)
    return "idle gaps cannot be told: " + WhyNoIdleTime(trace);
  if (which == WholeTable::kDevices) return WhyNoDeviceTime(trace);
  if (which == WholeTable::kLayers) {
    const LayersState state = trace.layers.state;
    const bool by_window = state == LayersState::kNoSteps || state == LayersState::kNoWork;
    return fmt::format("no layers: {}{}", WhyNoLayers(state), by_window ? OfThisPart(trace) : "");
  }
  if (which == WholeTable::kGraphs) {
    const GraphsState state = trace.graphs.state;
    const bool by_window = state == GraphsState::kNoLaunches || state == GraphsState::kNoWork;
    return fmt::format("no graphs: {}{}", WhyNoGraphs(state), by_window ? OfThisPart(trace) : "");
  }
  if (which == WholeTable::kRoofline)
    return fmt::format("no roofline: {}", WhyNoRoofline(trace.roofline));
  if (which == WholeTable::kSources) return WhyNoSources(trace.sources);
  return fmt::format("{} {}", none, Whereabouts(trace));
}

std::string WhyNoFindings(const RunAnalysis& run) {
  if (TotalsOf(run).devices.window.ns == 0) return "no finding: " + WhyNoDeviceTime(run);
  return "no finding: no time of devices or requests could be less, or none is known";
}

std::string WhyNoRequests(const RunAnalysis& run) {
  const bool is_part = std::ranges::any_of(run.traces, [](const TraceAnalysis& trace) {
    return trace.scope.window || !trace.scope.device.empty();
  });
  if (is_part) return "no requests: they are split for whole traces, without --window and --device";
  return "no requests: these are not the traces of one run folder of tacho record whose load tacho "
         "drove";
}

// Renders each table's part before it builds the next one, because a part holds all rows in memory.
std::string Rendered(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                     const ScreenOptions& options,
                     const std::function<std::string(Document)>& render) {
  std::string out;
  const auto add = [&](Document part) {
    if (!out.empty()) out += "\n";
    out += render(std::move(part));
  };
  for (const WholeTable which : tables) {
    if (which == WholeTable::kRanks) {
      Document part;
      AddTables(part, {RanksTable(run.ranks, options.style)}, kNoRanks, options);
      if (Table waiting = RankBlameTable(run.ranks, "waiting"); !waiting.rows.empty()) {
        part.Add(Gap{});
        AddTables(part, {std::move(waiting)}, "", options);
      }
      add(std::move(part));
      continue;
    }
    if (which == WholeTable::kFindings) {
      Document part;
      AddTables(part, {FindingsTable(run, false)}, WhyNoFindings(run), options);
      part.Add(Gap{});
      AddFindingTexts(part, run);
      add(std::move(part));
      continue;
    }
    if (which == WholeTable::kRequests) {
      Document part;
      AddTables(part, {RequestsTable(run.requests, {.slowest_first = true})}, WhyNoRequests(run),
                options);
      if (run.requests.any()) {
        part.Add(Paragraph{fmt::format("{}", fmt::join(RequestFacts(run.requests), "; "))});
        AddRequestLegend(part, run.requests);
      }
      add(std::move(part));
      continue;
    }
    for (const TraceAnalysis& trace : run.traces) {
      Document part;
      if (run.traces.size() > 1) part.Add(Heading{Heading::Level::kName, trace.path});
      auto [if_empty, of_trace] = WholeTables(trace, which, options.style);
      AddTables(part, std::move(of_trace), WhyEmpty(trace, which, if_empty), options);
      if (which == WholeTable::kGaps) AddUnderGaps(part, trace);
      if (which == WholeTable::kRoofline)
        AddRooflineRemark(part, trace.roofline, !trace.ops.gemms.empty());
      if (const PhaseLayers* phase = MainPhaseOf(trace.layers);
          which == WholeTable::kLayers && phase != nullptr)
        part.Add(Paragraph{LayersText(trace.layers, *phase), Paint::kDim});
      if (which == WholeTable::kSources) AddSourcesRemark(part, trace.sources);
      if (which == WholeTable::kGraphs && trace.graphs.state == GraphsState::kFound)
        part.Add(Paragraph{GraphsText(trace.graphs, !IsPart(trace)), Paint::kDim});
      if (which == WholeTable::kMemory) AddMemoryRemarks(part, trace.memory);
      add(std::move(part));
    }
  }
  return out;
}

}  // namespace

std::string WholeTablesText(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                            const ScreenOptions& options) {
  return Rendered(run, tables, options,
                  [&](Document part) { return RenderText(std::move(part), options.style); });
}

std::string WholeTablesMarkdown(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                                const ScreenOptions& options) {
  // More rows than half of this cannot fit, at 32 bytes a row.
  constexpr size_t kMostRows = 2 * kMarkdownLimit / 32;
  size_t top = options.table_top.value_or(SIZE_MAX);
  const auto rendered = [&] {
    return Rendered(run, tables, options,
                    [&](const Document& part) { return RenderMarkdown(part, top); });
  };
  std::string out = rendered();
  while (out.size() > kMarkdownLimit && top > 1) {
    top = std::min(top, kMostRows) / 2;
    out = rendered();
  }
  return out;
}

std::vector<Table> EmptyTables(const std::vector<WholeTable>& tables) {
  std::vector<Table> all;
  for (const WholeTable which : tables) {
    if (which == WholeTable::kRanks) all.push_back(RanksTable({}, {}));
    if (which == WholeTable::kFindings) all.push_back(FindingsTable({}, false));
    if (which == WholeTable::kRequests) all.push_back(RequestsTable({}));
    for (Table& table : WholeTables(TraceAnalysis{}, which, {}).tables)
      all.push_back(std::move(table));
  }
  return all;
}

}  // namespace tacho
