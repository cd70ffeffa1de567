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

// The piece of each call's work that starts first, on each device that the call uses; of equal
// starts the first by name, then by stream. Covers the whole trace, whatever the scope is. 4 bytes
// a call.
class FirstPieces {
 public:
  static constexpr uint32_t kNone = DenseIndex::kNone;

  FirstPieces() = default;
  explicit FirstPieces(const Trace& trace);
  // `piece`: a row of Trace::gpu that `call` launched.
  void Add(const Trace& trace, uint32_t call, uint32_t piece);

  [[nodiscard]] bool LaunchedWork(uint32_t call) const { return first_[call] != kNone; }
  // The first piece of the call's work on one device: on that of the piece that the file lists
  // first. A row of Trace::gpu; kNone if the call has no work.
  [[nodiscard]] uint32_t FirstOf(uint32_t call) const { return first_[call]; }
  // The first piece that `call` launched on the device of `piece`, as a row of Trace::gpu. `piece`:
  // any work that `call` launched.
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
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> elsewhere_;  // by (call, other device)
};

// Which GPU work was launched by which host call: rows of one trace joined by correlation. A graph
// launch has many pieces of work. Built once, used by launches, gaps and ops.
struct LaunchLinks {
  static constexpr uint32_t kNone = FirstPieces::kNone;
  std::vector<uint32_t> call_of_gpu;  // by row of Trace::gpu: row of Trace::host_calls, or kNone
  FirstPieces first;
  // By host call: not 0 if its name says that it puts work onto a device, and work of its
  // correlation is joined with this call and not with another one.
  std::vector<uint8_t> puts_work;
};
// Each rank of a merged file has correlations of its own. If several calls share one, work is
// joined with the call that launches, copies or sets (by its name), then with the first to start,
// then by name. Cost: O(n) with dense correlations.
LaunchLinks LinkLaunches(const Trace& trace);

bool IsGraphLaunch(std::string_view call);

struct ApiRow {
  std::string name;
  DurationStats stats;
};

// One call that launches a CUDA or HIP graph.
struct GraphLaunch {
  Interval call;            // on the host
  uint64_t gpu_events = 0;  // pieces of its work
  Interval work;            // first start to last end of the pieces; empty: none, or unknown
};

// What the profiler recorded as overhead (ProfilerOverhead) inside the calls that launch, copy or
// set. Of nested calls only the outer one counts.
struct OverheadInCalls {
  uint64_t calls = 0, held_up = 0;  // all such calls, and those with overhead inside
  DurationNs call_time;             // of all `calls`
  DurationNs total;                 // overhead within `call_time`
  struct Row {
    std::string name;
    uint64_t count = 0;  // overheads that overlap such a call
    DurationNs total;
  };
  std::vector<Row> rows;  // by total, longest first, then name
};

// How GPU work gets onto the device. Delay = start of the work - end of its launch call, at least
// 0; of a graph its first piece on each device counts. With a scope of one device, calls that put
// work onto other devices only are left out.
struct LaunchTable {
  uint64_t gpu_events = 0;  // with a correlation; with_launch + without_launch
  uint64_t with_launch = 0;
  uint64_t without_launch = 0;       // its launch is not in the recording
  uint64_t without_correlation = 0;  // GPU work that does not name its launch
  uint64_t graph_gpu_events = 0;     // pieces of work under graph launches
  uint64_t max_gpu_events_per_launch = 0;
  uint64_t shorter_than_launch = 0;  // kernels shorter than their own (non-graph) launch call
  DurationStats delay;               // all zero without a linked launch
  // Calls with GraphLaunch in their name ("cudaGraphLaunch_ptsz" too), by start, then end. Only
  // calls that start inside the scope, with those pieces of work that do. Cost: 40 bytes each.
  std::vector<GraphLaunch> graphs;
  DurationStats graph_calls;  // durations of these calls on the host
  // How many of these calls take less than 1 ms, 1 to 5 ms, more than 5 ms: the classes of
  // analyze_profile.py.
  uint64_t graphs_under_1ms = 0, graphs_1_to_5ms = 0, graphs_over_5ms = 0;
  struct QueueDepth {  // work that is launched and not yet started, on one stream
    std::string device, stream;
    uint64_t max = 0;
    double mean = 0;  // weighted by time between the first launch and the last start
  };
  std::vector<QueueDepth> queues;  // in the order of device and stream
  std::vector<ApiRow> apis;        // CUDA and HIP calls by name, by total, longest first, then name
  std::vector<ApiRow> other_apis;  // calls into other accelerators' runtimes, in the same order
  std::optional<OverheadInCalls> overhead;  // absent: no overhead was recorded on any thread
};
// Clears the figures that need one clock for host and device: delays, queues, and when the work of
// graphs ran.
void ForgetDelays(LaunchTable& table);
LaunchTable TabulateLaunches(const Trace& trace, const LaunchLinks& links, const Scope& scope = {});

}  // namespace tacho
