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

// A report of `nsys stats`: its columns, names, units and formulas are those of nsys (2022.4 under
// an old name, today's manual under a new one).
struct StatsReport {
  std::string_view name;   // "cuda_gpu_kern_sum"
  std::string_view title;  // "CUDA GPU Kernel Summary"
  std::string_view of;     // what it reports on, for a trace that has none: "GPU kernels"
  StatsTrace::Needs needs;
  // One of these two makes the table, named `name`, of all traces of a file. A table without rows:
  // the traces have nothing for it. `most`: so many rows will be shown; the table may already have
  // the others folded into one row.
  Table (*of_traces)(std::span<const StatsTrace> traces, size_t most) = nullptr;
  Table (*of_times)(const WorkTimes& times, size_t threads) = nullptr;
};

// All of them, in the order of the help.
std::span<const StatsReport> StatsReports();
// Finds a report by a new or an old name. kUsage for other names; the message has the nearest one.
Result<const StatsReport*> FindStatsReport(std::string_view name);
// The reports that are made if no report is named, as in nsys.
std::vector<const StatsReport*> DefaultStatsReports();
// "gpukernsum = cuda_gpu_kern_gb_sum", for the help.
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
