#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/work_times.h"
#include "stats/stats_trace.h"
#include "text/table.h"

namespace tacho {

// A report of `nsys stats`. If the user asks for it by an old name, its columns, names, units and
// formulas are those of nsys 2022.4; if by a new name, those of nsys's current manual.
struct StatsReport {
  std::string_view name;   // "cuda_gpu_kern_sum"
  std::string_view title;  // "CUDA GPU Kernel Summary"
  std::string_view of;  // what it reports on, for the message that a trace has none: "GPU kernels"
  StatsTrace::Needs needs;
  // One of these two functions makes the table, named `name`, for all traces of a file. A table
  // without rows means that the traces have nothing for it. `most`: how many rows will be shown;
  // the table may already sum up the others in one row.
  Table (*of_traces)(std::span<const StatsTrace> traces, size_t most) = nullptr;
  Table (*of_times)(const WorkTimes& times, size_t threads) = nullptr;
};

// All reports, in the order of the help text.
std::span<const StatsReport> StatsReports();
// Finds a report by its new or old name. kUsage if there is none; the message gives the most
// similar name.
Result<const StatsReport*> FindStatsReport(std::string_view name);
// The reports that are made if the user names none; the same as in nsys.
std::vector<const StatsReport*> DefaultStatsReports();
// Pairs of old and new name for the help text: "gpukernsum = cuda_gpu_kern_gb_sum".
std::vector<std::pair<std::string_view, std::string_view>> OldStatsNames();

Table GpuKernelSummary(const WorkTimes& times, size_t threads);
Table GpuKernelGridSummary(const WorkTimes& times, size_t threads);
Table GpuMemoryTimeSummary(const WorkTimes& times, size_t threads);
Table GpuMemorySizeSummary(const WorkTimes& times, size_t threads);
Table GpuTraceReport(std::span<const StatsTrace> traces, size_t most);
Table ApiSummary(const WorkTimes& times, size_t threads);
Table OsRuntimeSummary(const WorkTimes& times, size_t threads);
Table KernelExecutionSummary(std::span<const StatsTrace> traces, size_t most);
Table NvtxSummary(std::span<const StatsTrace> traces, size_t most);
Table NvtxKernelSummary(std::span<const StatsTrace> traces, size_t most);
Table NvtxProjectionSummary(std::span<const StatsTrace> traces, size_t most);
Table NvtxProjectionTrace(std::span<const StatsTrace> traces, size_t most);

}  // namespace tacho
