#include "stats/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/closest.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr StatsTrace::Needs kRanges{.ranges = true};
constexpr StatsTrace::Needs kOsCalls{.os_calls = true};
constexpr StatsTrace::Needs kCalls{.calls = true};
constexpr StatsTrace::Needs kGpu{.gpu = true};
constexpr StatsTrace::Needs kGpuDetails{.gpu = true, .gpu_details = true};
constexpr StatsTrace::Needs kLaunches{.launches = true, .gpu = true, .calls = true};
constexpr StatsTrace::Needs kBoth{.launches = true, .ranges = true, .gpu = true, .calls = true};

constexpr std::array kReports{
    StatsReport{"nvtx_sum", "NVTX Range Summary", "NVTX ranges", kRanges, NvtxSummary},
    StatsReport{"osrt_sum", "OS Runtime Summary", "calls of the operating system", kOsCalls,
                nullptr, OsRuntimeSummary},
    StatsReport{"cuda_api_sum", "CUDA API Summary", "CUDA calls", kCalls, nullptr, ApiSummary},
    StatsReport{"cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", "GPU kernels", kGpu, nullptr,
                GpuKernelSummary},
    StatsReport{"cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", "copies and memsets",
                kGpu, nullptr, GpuMemoryTimeSummary},
    StatsReport{"cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)", "copies and memsets",
                kGpuDetails, nullptr, GpuMemorySizeSummary},
    StatsReport{"cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary", "GPU kernels",
                kGpuDetails, nullptr, GpuKernelGridSummary},
    StatsReport{"cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary",
                "GPU kernels with their launches", kLaunches, KernelExecutionSummary},
    StatsReport{"cuda_gpu_trace", "CUDA GPU Trace", "GPU work", kGpuDetails, GpuTraceReport},
    StatsReport{"nvtx_kern_sum", "NVTX Range Kernel Summary", "NVTX ranges or GPU kernels", kBoth,
                NvtxKernelSummary},
    StatsReport{"nvtx_gpu_proj_sum", "NVTX GPU Projection Summary",
                "NVTX ranges that launch GPU work", kBoth, NvtxProjectionSummary},
    StatsReport{"nvtx_gpu_proj_trace", "NVTX GPU Projection Trace",
                "NVTX ranges that launch GPU work", kBoth, NvtxProjectionTrace},
};
constexpr size_t kDefaults = 6;  // the first six are the default

// The names used up to nsys 2022.4. A report under its old name has the columns of that version.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kOldNames{{
    {"nvtxsum", "nvtx_sum"},
    {"osrtsum", "osrt_sum"},
    {"cudaapisum", "cuda_api_sum"},
    {"gpukernsum", "cuda_gpu_kern_gb_sum"},
    {"gpumemtimesum", "cuda_gpu_mem_time_sum"},
    {"gpumemsizesum", "cuda_gpu_mem_size_sum"},
    {"kernexecsum", "cuda_kern_exec_sum"},
    {"gputrace", "cuda_gpu_trace"},
    {"nvtxkernsum", "nvtx_kern_sum"},
    {"nvtxgpuproj", "nvtx_gpu_proj_trace"},
}};

}  // namespace

std::span<const StatsReport> StatsReports() { return kReports; }

std::vector<std::pair<std::string_view, std::string_view>> OldStatsNames() {
  return {kOldNames.begin(), kOldNames.end()};
}

std::vector<const StatsReport*> DefaultStatsReports() {
  std::vector<const StatsReport*> reports;
  for (size_t i = 0; i < kDefaults; ++i) reports.push_back(&kReports[i]);
  return reports;
}

Result<const StatsReport*> FindStatsReport(std::string_view name) {
  std::string_view today = name;
  for (const auto& [old, now] : kOldNames) {
    if (name == old) today = now;
  }
  for (const StatsReport& report : kReports) {
    if (today == report.name) return &report;
  }
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    TACHO_ASSIGN_OR_RETURN(const StatsReport* report, FindStatsReport(name.substr(0, colon)));
    return Fail(
        ErrorKind::kUsage,
        fmt::format("{} takes no argument '{}': kernels have their demangled names, without "
                    "the ranges around them",
                    report->name, VisibleText(name.substr(colon))));
  }
  std::vector<std::string> names;
  for (const StatsReport& report : kReports) names.emplace_back(report.name);
  for (const auto& [old, now] : kOldNames) names.emplace_back(old);
  const std::string nearest = Closest(std::string(name), names);
  names.resize(kReports.size());
  return Fail(ErrorKind::kUsage,
              fmt::format("there is no report '{}'{}", VisibleText(name),
                          nearest.empty() ? fmt::format(": there are {}", fmt::join(names, ", "))
                                          : fmt::format(" (did you mean {}?)", nearest)));
}

}  // namespace tacho
