#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/clocks.h"
#include "model/ids.h"
#include "model/notes.h"
#include "model/vocabulary.h"

namespace tacho {

enum class EventType : uint8_t {
  kSlice,
  kSliceBegin,  // a kSliceEnd closes the last one that is still open on its track
  kSliceEnd,
  kInstant,  // also used for events that the reader does not understand
  kCounter,
  kRangeBegin,  // begins a range that need not nest; its end has the same id
  kRangeEnd,
  kRange,  // a whole range, with begin and end
  kFlowStart,
  kFlowStep,
  kFlowEnd,
  kMetadata,  // described a process or thread; the reader has used it
};

// One event on its way from a reader to a sink. Its texts are interned in the sink's vocabulary.
struct Event {
  EventType type = EventType::kSlice;
  SliceKind kind = SliceKind::kOther;
  CategoryId category{};
  bool has_category = false;
  bool has_start = false;  // false: it has no usable time and is only counted
  StringId name = StringId::kEmpty;
  TrackId track{};
  StreamId stream{};  // of GPU work
  TimeNs start;
  DurationNs duration;       // of a slice or a whole range, >= 0
  int64_t correlation = -1;  // -1: none
  int64_t external_id = -1;
  int64_t id = -1;                    // of a flow or a range
  int64_t graph = 0, graph_node = 0;  // of GPU work; see GpuTable
  LaunchId launch = LaunchId::kNone;
  // Only for a slice with a category that no known producer writes (device_rows.h).
  StringId row_type = StringId::kEmpty;
  bool names_device = false;
  ArgsShapeId args = ArgsShapeId::kNone;
  std::span<const int64_t> arg_values;  // one for each slot of the shape; for kText a StringId
};

// One GPU, as the trace's header describes it.
struct DeviceProperties {
  std::string id;
  std::string name;
  int64_t total_memory_bytes = 0;
  int64_t num_sms = 0;
  int64_t compute_major = 0;
  int64_t compute_minor = 0;
};

// What a trace was read from.
enum class TraceFormat : uint8_t { kKineto, kNsys };
constexpr size_t kTraceFormatCount = 2;
constexpr std::string_view TraceFormatName(TraceFormat format) {
  return format == TraceFormat::kNsys ? "nsys" : "kineto";
}

// Facts from the header of a trace. -1 or empty: the header does not have this fact.
struct TraceHeader {
  TraceFormat format = TraceFormat::kKineto;
  // Every top-level key except the events, with its JSON text, in the order of the file.
  std::vector<std::pair<std::string, std::string>> fields;
  int64_t base_time_ns = -1;  // Unix time of TimeNs{0}
  int64_t rank = -1;
  int64_t world_size = -1;
  int64_t process_group_count = -1;
  std::string backend;
  std::string nccl_version;
  std::string vllm_version;
  std::string trace_id;              // identifies one profiler session in one process
  std::string cuda_runtime_version;  // for HIP: HIP's version
  std::string cuda_driver_version;
  // CUPTI_API_VERSION, such as 26, or 130100 since CUDA 13; not in results.
  int64_t cupti_version = -1;
  bool record_shapes = false, with_stack = false, with_flops = false, profile_memory = false,
       with_modules = false;
  std::vector<DeviceProperties> devices;
  std::vector<std::string> producer_log;  // lines with WARNING or ERROR from the profiler

  // The shift from the trace's clock to the clock of its host; nullopt if the header has no base
  // time.
  [[nodiscard]] std::optional<ClockShift> to_host() const {
    return base_time_ns < 0 ? std::nullopt : std::optional(ClockShift{{base_time_ns}});
  }
};

struct EventCounts {
  uint64_t total = 0;
  std::map<std::string, uint64_t> by_label;  // keyed by the format's own names for types of events
  std::array<uint64_t, 256> complete_by_category{};  // kSlice events, by CategoryId
};

// Everything of a trace except its rows.
struct TraceBasics {
  TraceHeader header;
  Vocabulary words;
  EventCounts counts;
  Notes notes;
};

// What a reader writes to: a TraceBuilder, or a running total (SummarySink).
class EventSink {
 public:
  virtual ~EventSink() = default;
  // The reader fills the header, the vocabulary, the notes and counts.by_label. The sink fills the
  // other counts.
  virtual TraceBasics& basics() = 0;
  TraceHeader& header() { return basics().header; }
  Vocabulary& vocabulary() { return basics().words; }
  Notes& notes() { return basics().notes; }
  // False: the sink drops arguments, so the reader need not prepare them.
  [[nodiscard]] virtual bool wants_args() const = 0;
  // `event` and what it points to are valid only until the call returns.
  virtual void OnEvent(const Event& event) = 0;
};

}  // namespace tacho
