#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/column.h"
#include "base/late_column.h"
#include "base/narrow_column.h"
#include "base/time.h"
#include "model/args.h"
#include "model/event.h"
#include "model/notes.h"
#include "model/vocabulary.h"

namespace tacho {

// Slices in the order of the file, with one column for each field. Not sorted by start.
struct SliceTable {
  Column<TimeNs> start;
  NarrowColumn duration;  // >= 0
  Column<StringId> name;
  Column<TrackId> track;
  Column<ArgsRef> args;

  [[nodiscard]] size_t size() const { return start.size(); }
  [[nodiscard]] Interval When(size_t row) const {
    return {start[row], start[row] + DurationNs{duration[row]}};
  }
  [[nodiscard]] size_t MemoryBytes() const;
};

// Kernels, copies and memsets.
struct GpuTable : SliceTable {
  Column<SliceKind> kind;
  Column<StreamId> stream;
  NarrowColumn correlation;  // of the launch call, -1: none; all rows of a graph launch share one
  NarrowColumn external_id;  // of the host operator, -1: none (as when a graph is replayed)
  // The CUDA graph, and the node in it, that the row belongs to. The numbers are unique only within
  // the row's process. 0: no graph, or unknown. These columns take no memory in a trace without
  // graphs.
  LateColumn<int64_t, 0, NarrowColumn> graph;
  LateColumn<int64_t, 0> graph_node;
  LateColumn<LaunchId, LaunchId::kNone> launch;  // words[launch[row]]: its sizes
};

struct HostOpTable : SliceTable {
  NarrowColumn external_id;
};

// Calls into the runtime or driver of CUDA, HIP or another accelerator.
struct HostCallTable : SliceTable {
  Column<CategoryId> category;
  NarrowColumn correlation;
};

struct OtherSliceTable : SliceTable {
  Column<CategoryId> category;
};

struct InstantTable {
  Column<TimeNs> at;
  Column<StringId> name;
  Column<TrackId> track;
  Column<ArgsRef> args;

  [[nodiscard]] size_t size() const { return at.size(); }
};

// Ranges that need not nest, sorted by their begins.
struct RangeTable {
  Column<TimeNs> start;
  NarrowColumn duration;  // kNone: still open when the recording ended
  Column<StringId> name;
  Column<CategoryId> category;
  Column<TrackId> track;  // the track on which it begins
  Column<ArgsRef> args;

  [[nodiscard]] size_t size() const { return start.size(); }
};

// An integer if the file has one, else the nearest double.
using CounterValue = std::variant<int64_t, double>;

struct CounterTable {
  Column<MetricId> metric;
  Column<TimeNs> at;
  Column<CounterValue> value;

  [[nodiscard]] size_t size() const { return at.size(); }
};

// Flow events (arrows between slices). Kineto writes one after each launch and each piece of GPU
// work; such an event only repeats the track, start and correlation of the slice before it, so it
// is counted but not stored.
struct FlowTable {
  Column<EventType> type;
  Column<int64_t> id;
  Column<TimeNs> at;
  Column<TrackId> track;

  [[nodiscard]] size_t size() const { return at.size(); }
};

// What one profiler session recorded in one process. Immutable once built.
struct Trace : TraceBasics {
  // From the first start to the last end of all slices except the profiler's own (category Trace);
  // empty if there are none.
  Interval span;
  // From the first start to the last end of the profiler's own slices; empty if there are none.
  Interval profiled;

  GpuTable gpu;
  HostOpTable host_ops;
  SliceTable annotations;
  SliceTable gpu_annotations;
  HostCallTable host_calls;
  SliceTable python_frames;
  OtherSliceTable others;
  InstantTable instants;
  RangeTable ranges;
  CounterTable counters;
  FlowTable flows;

  Column<uint8_t> arg_values;  // the stream of values that ArgsRef::values points into

  [[nodiscard]] std::string_view Text(StringId id) const { return words[id]; }
  [[nodiscard]] size_t MemoryBytes() const;
};

// The arguments of a row. Ids come from the row's columns, if its table has these.
struct ArgsOf {
  ArgsRef ref;
  int64_t correlation = -1;
  int64_t external_id = -1;
  int64_t graph_node = 0;
};
ArgsOf GpuArgs(const Trace& trace, size_t row);
ArgsOf HostOpArgs(const Trace& trace, size_t row);
ArgsOf HostCallArgs(const Trace& trace, size_t row);

// The JSON text of all arguments, byte for byte as in the file; "" if the event has none.
std::string ArgsText(const Trace& trace, const ArgsOf& args);
// The JSON text of one argument; nullopt if it is absent. If a key occurs twice, the last one
// counts.
std::optional<std::string> ArgText(const Trace& trace, const ArgsOf& args, std::string_view key);

}  // namespace tacho
