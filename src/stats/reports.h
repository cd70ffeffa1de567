#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stats/stats_trace.h"
#include "text/table.h"

namespace tacho {

// A report of `nsys stats`: its columns, names, units and formulas are those of nsys (2022.4 under
// an old name, today's manual under a new one).
struct StatsReport {
  std::string_view name;   // "cuda_gpu_kern_sum"
  std::string_view title;  // "CUDA GPU Kernel Summary"
  std::string_view of;     // what a trace without it lacks: "GPU kernels"
  StatsTrace::Needs needs;
  // The table of all traces of a file, named `name`; without rows: they have nothing of it.
  Table (*make)(std::span<const StatsTrace> traces);
};

// All of them, in the order of the help.
std::span<const StatsReport> StatsReports();
// By a new or an old name; kUsage, with the nearest name, for others.
Result<const StatsReport*> FindStatsReport(std::string_view name);
// The reports that are made where none is named, as by nsys.
std::vector<const StatsReport*> DefaultStatsReports();
// "gpukernsum = cuda_gpu_kern_gb_sum", for the help.
std::vector<std::pair<std::string_view, std::string_view>> OldStatsNames();

Table GpuKernelSummary(std::span<const StatsTrace> traces);
Table GpuKernelGridSummary(std::span<const StatsTrace> traces);
Table GpuMemoryTimeSummary(std::span<const StatsTrace> traces);
Table GpuMemorySizeSummary(std::span<const StatsTrace> traces);
Table GpuTraceReport(std::span<const StatsTrace> traces);
Table ApiSummary(std::span<const StatsTrace> traces);
Table OsRuntimeSummary(std::span<const StatsTrace> traces);
Table KernelExecutionSummary(std::span<const StatsTrace> traces);
Table NvtxSummary(std::span<const StatsTrace> traces);
Table NvtxKernelSummary(std::span<const StatsTrace> traces);
Table NvtxProjectionSummary(std::span<const StatsTrace> traces);
Table NvtxProjectionTrace(std::span<const StatsTrace> traces);

}  // namespace tacho
