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

// An NVTX range. In Kineto's traces: an annotation.
struct NvtxRange {
  Interval when;
  std::string name;  // as nsys stats prints it, after the name of its domain: "NCCL:ncclAllReduce"
  TrackId track;
  bool is_start_end = false;  // a start/end range; such ranges need not nest
  bool is_on_one_thread = true;

  // The style in the words of nsys stats.
  [[nodiscard]] const char* style() const { return is_start_end ? "StartEnd" : "PushPop"; }
};

// The name of a GPU operation in nsys: "[CUDA memcpy HtoD]" for "Memcpy HtoD (Pinned -> Device)",
// or "[CUDA memset]".
std::string OperationName(SliceKind kind, std::string_view name);
// The name of a call as nsys stats prints it. It ends with the version of the call's signature only
// if that has five digits or more.
std::string CallName(std::string_view name, int64_t version);

// One trace, with data that several reports need. Names of kernels and calls and ids of processes
// and threads are as nsys stats prints them.
class StatsTrace {
 public:
  // Which data the reports need. Other data costs no time, and may be missing if the trace comes
  // from an nsys export.
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
  // False for a CUDA graph that was recorded as a whole.
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
  // The launch call as a row of host_calls; LaunchLinks::kNone: unknown.
  [[nodiscard]] uint32_t CallOf(uint32_t gpu_row) const { return links_.call_of_gpu[gpu_row]; }
  // The version of a call's signature; -1: unknown.
  [[nodiscard]] int64_t VersionOf(uint32_t call) const {
    return version_.Integer(HostCallArgs(*trace_, call)).value_or(-1);
  }
  // The name of a call as nsys stats prints it.
  [[nodiscard]] std::string CallNameOf(uint32_t call, int64_t version) const {
    return CallName(Text(trace_->host_calls.name[call]), version);
  }
  // Sorted by track; on a track, an outer range comes before the ranges inside it.
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

// `text` as an integer if it is one, else as it is.
Cell NumberOrText(std::string_view text);

}  // namespace tacho
