#pragma once

#include <span>
#include <string_view>

#include "analysis/analyze.h"
#include "report/device_totals.h"
#include "text/table.h"

namespace tacho {

// The meaning, in the docs, of a column whose times count from `origin`.
inline constexpr std::string_view kSinceSpan = "time since the start of the trace's span";

// Result structs as tables. The screen, CSV, JSON rows and Markdown all use these definitions.
// `title` is the heading of the first column.

// `totals`: the devices that the kernels ran on; with several devices, each row names its device.
Table KernelsTable(const KernelTable& kernels, const DeviceTotals& totals, const TextStyle& style,
                   std::string title = "KERNELS");
Table CategoriesTable(const KernelTable& kernels, std::string title = "CATEGORIES");
// Splits the window into rows that add up to it: categories of kernels, copies, memsets, minus the
// time that these count twice, and idle. If the table is shortened, only rows of categories are
// folded.
Table WindowTable(const DeviceTotals& totals, std::string title);
Table IdleCausesTable(const IdleTable& idle, std::string title = "IDLE BY CAUSE");
// `whole` adds the columns that the first screen has no room for.
Table OpsTable(const std::vector<OpRow>& ops, bool with_device_time, bool with_shapes,
               std::string title = "OPERATORS", bool whole = false);
// Memory: levels and peaks by device; what the peaks consist of; the levels over time.
Table MemoryDevicesTable(const MemoryTable& memory, TimeNs origin, std::string title = "MEMORY");
Table MemoryPeakTable(std::span<const DeviceMemory> devices,
                      std::string title = "ALIVE AT THE PEAK");
Table MemorySeriesTable(const MemoryTable& memory, TimeNs origin);
Table CopiesTable(const CopyTable& copies, std::string title = "COPIES");
Table ApisTable(const std::vector<ApiRow>& apis, std::string title = "HOST CALLS");
Table QueuesTable(const LaunchTable& launches, std::string title = "QUEUES");
Table LaunchFiguresTable(const LaunchTable& launches, std::string title = "LAUNCHES");
// `origin`: the time that the columns "at" count from. Gaps and steps have the numbers that `tacho
// view --gap 3` and `--step 17` take.
Table GraphsTable(const std::vector<GraphLaunch>& graphs, TimeNs origin,
                  std::string title = "GRAPH LAUNCHES AT");
Table GapsTable(const IdleTable& idle, TimeNs origin, bool with_device, const TextStyle& style,
                std::string title = "GAPS");
Table StepsTable(const StepTable& steps, TimeNs origin, std::string title = "STEPS");
// Hides the numbers in a table of gaps or steps. For results of a part of a trace: `tacho view`
// takes numbers that count in the whole trace.
Table WithoutNumbers(Table table);
Table StepPhasesTable(const StepTable& steps, std::string title = "STEPS");
Table DevicesTable(const std::vector<DeviceTime>& devices, std::string title = "DEVICES");
Table OverlapsTable(const std::vector<DeviceTime>& devices, std::string title = "RUNNING TOGETHER");
Table StreamsTable(const std::vector<DeviceTime>& devices, std::string title = "STREAMS");
Table NotesTable(const Notes& notes, std::string title = "NOTES");
// One row per rank, with the composition of its window drawn.
Table RanksTable(const RankTable& ranks, const TextStyle& style, std::string title = "RANKS");
// Whom the ranks waited for in collectives. Has no rows if that is unknown.
Table RankBlameTable(const RankTable& ranks, std::string title = "WAITING");
// The grouped GEMMs (experts) of the ranks. Has no rows if there are no figures.
Table RankExpertsTable(const RankTable& ranks, std::string title = "EXPERTS");
// Collectives by kind and size, with their bandwidths. Has no rows if no sizes are known.
Table CollectiveSizesTable(const RankBlame& blame, std::string title = "COLLECTIVES");
// How RequestsTable shows the requests of a load. Steps have the same numbers as in StepsTable.
struct RequestsTableOptions {
  bool slowest_first = false;  // by end-to-end time; false: in the order of `requests`
  std::string title = "requests";
  std::optional<RequestPart> first = {};  // a narrow screen drops this part's column last
};
Table RequestsTable(const RequestAnalysis& requests, const RequestsTableOptions& options = {});
// Mean times by band of end-to-end time, then by scenario.
Table RequestGroupsTable(const RequestAnalysis& requests, std::string title = "REQUESTS");
// Some requests side by side, with a row for each part in which one of them has time.
Table RequestsBesideTable(const std::vector<const RequestRow*>& rows,
                          const std::vector<std::string>& names);
// The phase with the most device time; null if no layers were found.
const PhaseLayers* MainPhaseOf(const LayerTable& layers);
// The blocks of a model's layers (attention, experts, ...) by phase, added up over all layers; with
// `main_phase` only those of MainPhaseOf. Has no rows if no layers were found.
Table LayerBlocksTable(const LayerTable& layers, bool main_phase = false,
                       std::string title = "BLOCK");
// A row for each layer in each phase, with the layer's blocks.
Table LayersTable(const LayerTable& layers, std::string title = "LAYERS");
// Each phase beside its roof, then each block; with `main_phase` only blocks of the phase whose
// blocks take most time.
Table RooflineTable(const Roofline& roofline, std::optional<Phase> blocks_of = std::nullopt,
                    std::string title = "ROOFLINE");
Table GemmsTable(const std::vector<GemmRow>& gemms, std::string title = "GEMMS BY SHAPE");
// What repeats in the layers and could take less time, most first; with `main` only what is at
// least 1 % of the time of its steps.
Table OpportunitiesTable(const std::vector<Opportunity>& opportunities, bool main = false,
                         std::string title = "OPPORTUNITIES");
// Kernels by block of the model, with the code that launches them. Has no rows unless sources were
// found.
Table SourcesTable(const SourceTable& sources, const TextStyle& style,
                   std::string title = "SOURCES");
// Labels the busy time in a table of devices or ranks as a lower bound.
void SayBusyIsLeast(Table& table);
// Labels the device time of operators as a lower bound.
void SayDeviceIsLeast(Table& table);

// How many tokens the steps of a phase took in or generated, and how long these steps took
// together, from start to start. Only steps that state tokens and have a period (a next step)
// count; without any, both are 0. Both are also 0 if steps verify proposed tokens, because not all
// of these are kept.
struct Throughput {
  int64_t tokens = 0;
  DurationNs time;
  [[nodiscard]] double per_second() const {
    return time.ns <= 0 ? 0 : static_cast<double>(tokens) * 1e9 / static_cast<double>(time.ns);
  }
};
Throughput ThroughputOf(const StepTable& steps, Phase phase);

// How many rows to show: those with at least one percent of `total`, but at least `least` rows and
// at most `most`.
size_t RowsWorthShowing(const std::vector<DurationNs>& descending, DurationNs total, size_t least,
                        size_t most);

}  // namespace tacho
