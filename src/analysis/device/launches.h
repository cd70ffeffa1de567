#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/device/kernels.h"
#include "analysis/index/dense_index.h"
#include "analysis/scope.h"
#include "model/trace.h"

namespace tacho {

// For each host call and each device that it put work onto: the piece of work that starts first. If
// pieces start together: the first by name, then by stream. Covers the whole trace, not only the
// scope. 4 bytes a call.
class FirstPieces {
 public:
  static constexpr uint32_t kNone = DenseIndex::kNone;

  FirstPieces() = default;
  explicit FirstPieces(const Trace& trace);
  // `piece`: a row of Trace::gpu, work that `call` launched.
  void Add(const Trace& trace, uint32_t call, uint32_t piece);

  [[nodiscard]] bool LaunchedWork(uint32_t call) const { return first_[call] != kNone; }
  // The first piece of work that `call` launched, a row of Trace::gpu; kNone if it launched none.
  // If the call put work onto several devices, only one device counts: the one whose work comes
  // first in the file.
  [[nodiscard]] uint32_t FirstOf(uint32_t call) const { return first_[call]; }
  // Returns a row of Trace::gpu: the first piece that `call` launched on the same device as
  // `piece`. `piece` is any piece that `call` launched.
  [[nodiscard]] uint32_t Before(const GpuTable& gpu, uint32_t call, uint32_t piece) const {
    const uint32_t first = first_[call];
    if (DeviceOf(gpu, first) == DeviceOf(gpu, piece)) return first;
    return elsewhere_.at({call, DeviceOf(gpu, piece)});
  }
  // Calls `visit` with (call, piece), once for each call and device.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t call = 0; call < first_.size(); ++call) {
      if (first_[call] != kNone) visit(call, first_[call]);
    }
    for (const auto& [key, piece] : elsewhere_) visit(key.first, piece);
  }

 private:
  [[nodiscard]] uint32_t DeviceOf(const GpuTable& gpu, uint32_t row) const {
    return device_of_stream_[Index(gpu.stream[row])];
  }

  std::vector<uint32_t> device_of_stream_;
  std::vector<uint32_t> first_;                                  // by call: see FirstOf
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> elsewhere_;  // keyed by (call, other device)
};

// Which host call launched which GPU work, joined by their correlation ids. A graph launch has many
// pieces of work. Built once and used by the analyses of launches, gaps and operators.
struct LaunchLinks {
  static constexpr uint32_t kNone = FirstPieces::kNone;
  std::vector<uint32_t> call_of_gpu;  // by row of Trace::gpu: row of Trace::host_calls, or kNone
  FirstPieces first;
  // By host call: whether the call puts work onto a device. 1 if its name says so, and the work
  // with its correlation id is joined with this call and not with another call of the same id.
  std::vector<uint8_t> puts_work;
};
// Joins calls and work. In a merged file each rank has its own correlation ids. If several calls
// share one id, the work is joined with a call whose name says that it launches, copies or sets. If
// there are several of these, with the one that starts first, then with the first by name. Cost:
// O(n) if the ids are dense.
LaunchLinks LinkLaunches(const Trace& trace);

bool IsGraphLaunch(std::string_view call);

struct ApiRow {
  std::string name;
  DurationStats stats;
};

// One call that launches a CUDA or HIP graph.
struct GraphLaunch {
  Interval call;            // when the call ran on the host
  uint64_t gpu_events = 0;  // pieces of its work
  // From the first start to the last end of the pieces; empty: no pieces, or unknown.
  Interval work;
};

// The overhead that the profiler recorded (ProfilerOverhead) inside calls that put work onto a
// device: launches, copies and memsets. If such calls are nested, only the outer one counts.
struct OverheadInCalls {
  uint64_t calls = 0, held_up = 0;  // all such calls, and how many of them contain overhead
  DurationNs call_time;             // of all such calls
  DurationNs total;                 // overhead within `call_time`
  struct Row {
    std::string name;
    uint64_t count = 0;  // overheads of this name that overlap such a call
    DurationNs total;
  };
  std::vector<Row> rows;  // sorted by total time, longest first, then by name
};

// How GPU work gets onto the device. A delay is the time from the end of a launch call to the start
// of its work, at least 0; for a graph, only its first piece on each device counts. If the scope
// names a device, calls that put work only onto other devices are left out.
struct LaunchTable {
  uint64_t gpu_events = 0;  // events with a correlation id: with_launch + without_launch
  uint64_t with_launch = 0;
  uint64_t without_launch = 0;       // the trace lacks their launch call
  uint64_t without_correlation = 0;  // events without a correlation id
  uint64_t graph_gpu_events = 0;     // pieces of work of graph launches
  uint64_t max_gpu_events_per_launch = 0;
  // Kernels that take less time than their own launch call. Kernels of graphs do not count.
  uint64_t shorter_than_launch = 0;
  DurationStats delay;  // all zero if no work has its launch call in the trace
  // Calls with "GraphLaunch" in their name ("cudaGraphLaunch_ptsz" too), sorted by start, then end.
  // Only calls that start inside the scope are listed, and only pieces of their work that start
  // inside it are counted. 40 bytes each.
  std::vector<GraphLaunch> graphs;
  DurationStats graph_calls;  // how long these calls take on the host
  // How many of these calls take less than 1 ms, 1 to 5 ms, and more than 5 ms: the classes used by
  // analyze_profile.py.
  uint64_t graphs_under_1ms = 0, graphs_1_to_5ms = 0, graphs_over_5ms = 0;
  struct QueueDepth {  // launched work of one stream that has not yet started
    std::string device, stream;
    uint64_t max = 0;
    double mean = 0;  // averaged over the time from the first launch to the last start
  };
  std::vector<QueueDepth> queues;  // in the order of device and stream
  // CUDA and HIP calls by name; sorted by total time, longest first, then by name.
  std::vector<ApiRow> apis;
  // Calls into the runtimes of other accelerators, sorted in the same way.
  std::vector<ApiRow> other_apis;
  std::optional<OverheadInCalls> overhead;  // absent: no overhead was recorded on any thread
};
// Clears the figures that compare times of host and device: delays, queues, and when the work of
// graphs ran. For traces in which the clocks of host and device are not aligned.
void ForgetDelays(LaunchTable& table);
LaunchTable TabulateLaunches(const Trace& trace, const LaunchLinks& links, const Scope& scope = {});

}  // namespace tacho
