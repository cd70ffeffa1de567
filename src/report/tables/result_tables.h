#pragma once

#include <span>
#include <string_view>

#include "analysis/analyze.h"
#include "report/device_totals.h"
#include "text/table.h"

namespace tacho {

// The meaning of a time that counts from `origin`.
inline constexpr std::string_view kSinceSpan = "time since the start of the trace's span";

// Result structs as tables: one definition for the screen, CSV, JSON rows and Markdown. `title` is
// the heading of the first column.

// `totals`: of the devices that the kernels ran on; if there are several, each row names its
// device.
Table KernelsTable(const KernelTable& kernels, const DeviceTotals& totals, const TextStyle& style,
                   std::string title = "KERNELS");
Table CategoriesTable(const KernelTable& kernels, std::string title = "CATEGORIES");
// Categories of kernels, copies, memsets, the part counted more than once, and idle: they sum to
// the window. Only categories are folded.
Table WindowTable(const DeviceTotals& totals, std::string title);
Table IdleCausesTable(const IdleTable& idle, std::string title = "IDLE BY CAUSE");
// `whole`: with the columns that the first screen has no room for.
Table OpsTable(const std::vector<OpRow>& ops, bool with_device_time, bool with_shapes,
               std::string title = "OPERATORS", bool whole = false);
// Memory: levels and peaks by device; what the peaks are made of; the levels over time.
Table MemoryDevicesTable(const MemoryTable& memory, TimeNs origin, std::string title = "MEMORY");
Table MemoryPeakTable(std::span<const DeviceMemory> devices,
                      std::string title = "ALIVE AT THE PEAK");
Table MemorySeriesTable(const MemoryTable& memory, TimeNs origin);
Table CopiesTable(const CopyTable& copies, std::string title = "COPIES");
Table ApisTable(const std::vector<ApiRow>& apis, std::string title = "HOST CALLS");
Table QueuesTable(const LaunchTable& launches, std::string title = "QUEUES");
Table LaunchFiguresTable(const LaunchTable& launches, std::string title = "LAUNCHES");
// `origin`: the time that "at" counts from. Gaps and steps are numbered as `tacho view --gap 3` and
// `--step 17` count them.
Table GraphsTable(const std::vector<GraphLaunch>& graphs, TimeNs origin,
                  std::string title = "GRAPH LAUNCHES AT");
Table GapsTable(const IdleTable& idle, TimeNs origin, bool with_device, const TextStyle& style,
                std::string title = "GAPS");
Table StepsTable(const StepTable& steps, TimeNs origin, std::string title = "STEPS");
// A table of gaps or steps without their numbers, for a part of a trace: numbers count in the whole
// trace.
Table WithoutNumbers(Table table);
Table StepPhasesTable(const StepTable& steps, std::string title = "STEPS");
Table DevicesTable(const std::vector<DeviceTime>& devices, std::string title = "DEVICES");
Table OverlapsTable(const std::vector<DeviceTime>& devices, std::string title = "RUNNING TOGETHER");
Table StreamsTable(const std::vector<DeviceTime>& devices, std::string title = "STREAMS");
Table NotesTable(const Notes& notes, std::string title = "NOTES");
// One row per rank, with the composition of its window drawn.
Table RanksTable(const RankTable& ranks, const TextStyle& style, std::string title = "RANKS");
// Whom the ranks waited for in collectives; no row without figures.
Table RankBlameTable(const RankTable& ranks, std::string title = "WAITING");
// The grouped GEMMs of the ranks; no row without figures.
Table RankExpertsTable(const RankTable& ranks, std::string title = "EXPERTS");
// Collectives by kind and size, with their bandwidths; no row without sizes.
Table CollectiveSizesTable(const RankBlame& blame, std::string title = "COLLECTIVES");
// The requests of a load: in their own order, or by e2e. Steps are numbered as in StepsTable.
struct RequestsTableOptions {
  bool slowest_first = false;  // else in the order of the table
  std::string title = "requests";
  std::optional<RequestPart> first = {};  // the part whose column does not give way
};
Table RequestsTable(const RequestAnalysis& requests, const RequestsTableOptions& options = {});
// Means by band of e2e, then by scenario.
Table RequestGroupsTable(const RequestAnalysis& requests, std::string title = "REQUESTS");
// Some requests side by side, a row for each part that one of them has.
Table RequestsBesideTable(const std::vector<const RequestRow*>& rows,
                          const std::vector<std::string>& names);
// The phase with the most device time; null if no layers were found.
const PhaseLayers* MainPhaseOf(const LayerTable& layers);
// The blocks of a model by phase, those of its layers added up; no row without layers.
Table LayerBlocksTable(const LayerTable& layers, bool main_phase = false,
                       std::string title = "BLOCK");
// Each layer by phase, with its blocks.
Table LayersTable(const LayerTable& layers, std::string title = "LAYERS");
// Labels the busy time in a table of devices or ranks as a lower bound, even if all of them are
// whole.
void SayBusyIsLeast(Table& table);
// Labels the device time of operators as a lower bound.
void SayDeviceIsLeast(Table& table);

// Tokens that the steps of a phase took in or generated, and the sum of the periods of these steps.
// Only steps that state tokens and have a period count. Both are 0 without such a step.
struct Throughput {
  int64_t tokens = 0;
  DurationNs time;
  [[nodiscard]] double per_second() const {
    return time.ns <= 0 ? 0 : static_cast<double>(tokens) * 1e9 / static_cast<double>(time.ns);
  }
};
Throughput ThroughputOf(const StepTable& steps, Phase phase);

// How many rows have at least one percent of `total`: at least `least`, at most `most`.
size_t RowsWorthShowing(const std::vector<DurationNs>& descending, DurationNs total, size_t least,
                        size_t most);

}  // namespace tacho
