#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/index/arg_reader.h"
#include "model/trace.h"
#include "text/table.h"

namespace tacho {

// An NVTX range; in Kineto's traces, an annotation.
struct NvtxRange {
  Interval when;
  std::string name;  // as nsys stats has it, after the name of its domain: "NCCL:ncclAllReduce"
  TrackId track;
  bool is_start_end = false;  // a start/end range, which need not nest
  bool is_on_one_thread = true;

  // In the words of nsys stats.
  [[nodiscard]] const char* style() const { return is_start_end ? "StartEnd" : "PushPop"; }
};

// "[CUDA memcpy HtoD]" of "Memcpy HtoD (Pinned -> Device)", "[CUDA memset]".
std::string OperationName(SliceKind kind, std::string_view name);
// The name of a call, with the version of its signature if nsys stats keeps that in the name: from
// five digits on.
std::string CallName(std::string_view name, int64_t version);

// One trace with what several reports need of it. Names of kernels and calls, ids of processes and
// threads are as nsys stats prints them.
class StatsTrace {
 public:
  // What the reports need. All else costs nothing, and may be missing in a trace from an export of
  // nsys.
  struct Needs {
    bool launches = false, ranges = false, gpu = false, gpu_details = false, calls = false,
         os_calls = false;

    Needs operator|(const Needs& o) const {
      return {launches || o.launches,       ranges || o.ranges, gpu || o.gpu,
              gpu_details || o.gpu_details, calls || o.calls,   os_calls || o.os_calls};
    }
  };
  StatsTrace(const Trace& trace, Needs needs);

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  // A CUDA graph that was recorded as a whole is no kernel.
  [[nodiscard]] bool IsKernel(uint32_t gpu_row) const {
    return trace_->gpu.kind[gpu_row] == SliceKind::kKernel &&
           (!is_nsys_ || trace_->gpu.launch.empty() || LaunchOf(gpu_row).grid);
  }
  [[nodiscard]] const LaunchSizes& LaunchOf(uint32_t gpu_row) const {
    return trace_->words[trace_->gpu.launch[gpu_row]];
  }
  [[nodiscard]] std::string OperationOf(uint32_t gpu_row) const {
    return OperationName(trace_->gpu.kind[gpu_row], Text(trace_->gpu.name[gpu_row]));
  }
  // Row of host_calls; LaunchLinks::kNone: none.
  [[nodiscard]] uint32_t CallOf(uint32_t gpu_row) const { return links_.call_of_gpu[gpu_row]; }
  // The version of a call's signature; -1: unknown.
  [[nodiscard]] int64_t VersionOf(uint32_t call) const {
    return version_.Integer(HostCallArgs(*trace_, call)).value_or(-1);
  }
  // As nsys stats prints it.
  [[nodiscard]] std::string CallNameOf(uint32_t call, int64_t version) const {
    return CallName(Text(trace_->host_calls.name[call]), version);
  }
  // Ordered by track; there an outer range comes before inner ones.
  [[nodiscard]] const std::vector<NvtxRange>& ranges() const { return ranges_; }

  [[nodiscard]] Cell Pid(TrackId track) const;
  [[nodiscard]] Cell Tid(TrackId track) const;
  [[nodiscard]] std::string_view Text(StringId id) const { return trace_->Text(id); }

 private:
  void ReadRanges();

  const Trace* trace_;
  bool is_nsys_;
  ArgReader version_;
  LaunchLinks links_;
  std::vector<NvtxRange> ranges_;
};

// The text as an integer if it is one, else the text.
Cell NumberOrText(std::string_view text);

}  // namespace tacho
