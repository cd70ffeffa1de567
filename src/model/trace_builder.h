#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "model/begin_end.h"
#include "model/device_rows.h"
#include "model/event.h"
#include "model/trace.h"

namespace tacho {

// Builds a Trace from events in any order. Events come from a reader, or from a test that needs no
// files.
//
//   TraceBuilder builder;
//   builder.Kernel("gemm", {.stream = "7", .start = 100, .duration = 50, .correlation = 1});
//   const Trace trace = std::move(builder).Finish();
class TraceBuilder : public EventSink {
 public:
  TraceBasics& basics() override { return trace_; }
  [[nodiscard]] bool wants_args() const override { return true; }
  void OnEvent(const Event& event) override;

  // Adds notes for begin events without an end, and returns the trace.
  Trace Finish() &&;

  // Short forms for tests; all times are in ns. Arguments are pairs of a key and a JSON text.
  using Arguments = std::vector<std::pair<std::string_view, std::string_view>>;
  struct OnGpu {
    std::string_view device = "0", stream = "7";
    int64_t start = 0, duration = 0, correlation = -1, external_id = -1;
    Arguments args = {};
    std::string_view pid = {};   // empty: the device's id, as profilers write
    std::string_view rank = {};  // see Process::rank
  };
  struct OnHost {
    std::string_view pid = "1", tid = "1";
    int64_t start = 0, duration = 0, correlation = -1, external_id = -1;
    Arguments args = {};
    std::string_view rank = {};
  };
  void Kernel(std::string_view name, const OnGpu& at) { Gpu("kernel", name, at); }
  void Memcpy(std::string_view name, const OnGpu& at) { Gpu("gpu_memcpy", name, at); }
  void Memset(std::string_view name, const OnGpu& at) { Gpu("gpu_memset", name, at); }
  // Adds a slice on a host track. `category`: as in a file, such as "cpu_op", "user_annotation" or
  // "cuda_runtime".
  void Host(std::string_view category, std::string_view name, const OnHost& at);
  void NameProcess(std::string_view pid, std::string_view name);
  // `tid`: a thread of process 1; empty: the first track.
  void Instant(std::string_view name, int64_t at, const Arguments& args = {},
               std::string_view tid = {});

 private:
  // An event whose track and arguments are not set yet.
  template <typename At>
  Event EventOf(std::string_view category, std::string_view name, const At& at);
  void Gpu(std::string_view category, std::string_view name, const OnGpu& at);
  void AddSlice(const Event& event, ArgsRef args);
  template <typename Work>
  void AddLaunch(const Work& work);
  void AddInstant(const Event& event);
  void AddRange(const Event& event, int64_t duration);
  void AddCounters(const Event& event);
  void AddFlow(const Event& event);
  CategoryId CategoryOf(const Event& event);
  void SortWaiting();
  ArgsRef StoreArgs(const Event& event);
  TrackId TrackOf(std::string_view rank, std::string_view pid, std::string_view tid);
  ArgsShapeId ShapeOf(const Arguments& arguments);

  // A row in `others` that may turn out to belong to a device.
  struct Waiting {
    uint32_t row = 0;
    WaitingRow of;
    StringId type{};
    int64_t correlation = -1, graph = 0, graph_node = 0;
    LaunchId launch = LaunchId::kNone;
  };

  Trace trace_;
  std::vector<Waiting> waiting_;
  bool any_slice_ = false;
  bool any_window_ = false;
  // About the last slice added. A flow event with the same correlation, track and start only
  // repeats it and is dropped.
  int64_t last_correlation_ = -1;
  TrackId last_track_{};
  TimeNs last_start_;
  BeginEndPairs open_;
  RangePairs open_ranges_;
};

}  // namespace tacho
