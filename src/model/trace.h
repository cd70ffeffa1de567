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

// Slices in the order of the file, one column a field. Starts are not sorted.
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
  NarrowColumn
      correlation;  // of the launch call, -1: none; many rows share one under a graph launch
  NarrowColumn external_id;  // of the host op, -1: none (graph replay)
  // The CUDA graph and the node that the row belongs to, by the ids of the row's process; 0: no
  // graph, or unknown. A trace without graphs needs no memory for these columns.
  LateColumn<int64_t, 0, NarrowColumn> graph;
  LateColumn<int64_t, 0> graph_node;
  LateColumn<LaunchId, LaunchId::kNone> launch;  // words[launch[row]]: its sizes
};

struct HostOpTable : SliceTable {
  NarrowColumn external_id;
};

// Calls into the CUDA or HIP runtime or driver and their kin.
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

// Ranges that need not nest, in the order of their begins.
struct RangeTable {
  Column<TimeNs> start;
  NarrowColumn duration;  // kNone: open when the recording ended
  Column<StringId> name;
  Column<CategoryId> category;
  Column<TrackId> track;  // where it begins
  Column<ArgsRef> args;

  [[nodiscard]] size_t size() const { return start.size(); }
};

// An integer as the file has it, else the nearest double.
using CounterValue = std::variant<int64_t, double>;

struct CounterTable {
  Column<MetricId> metric;
  Column<TimeNs> at;
  Column<CounterValue> value;

  [[nodiscard]] size_t size() const { return at.size(); }
};

// Ends and steps of flows. A flow event with the track, start and correlation of the slice before
// it is redundant and only counted: Kineto writes one after each launch and each piece of GPU work.
struct FlowTable {
  Column<EventType> type;
  Column<int64_t> id;
  Column<TimeNs> at;
  Column<TrackId> track;

  [[nodiscard]] size_t size() const { return at.size(); }
};

// The recording of one profiler session in one process. Immutable once built.
struct Trace : TraceBasics {
  Interval span;      // first start to last end over all slices but the profiler's own (category
                      // Trace); empty without any
  Interval profiled;  // the extent of the profiler's own slices; empty without any

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

  Column<uint8_t> arg_values;  // stream that ArgsRef::values points into

  [[nodiscard]] std::string_view Text(StringId id) const { return words[id]; }
  [[nodiscard]] size_t MemoryBytes() const;
};

// The arguments of a row. The ids are the row's columns, if its table has them.
struct ArgsOf {
  ArgsRef ref;
  int64_t correlation = -1;
  int64_t external_id = -1;
  int64_t graph_node = 0;
};
ArgsOf GpuArgs(const Trace& trace, size_t row);
ArgsOf HostOpArgs(const Trace& trace, size_t row);
ArgsOf HostCallArgs(const Trace& trace, size_t row);

// The JSON text of the arguments, byte for byte as in the file; "" when the event has none.
std::string ArgsText(const Trace& trace, const ArgsOf& args);
// The JSON text of one argument; nullopt without that argument. The last of equal keys wins.
std::optional<std::string> ArgText(const Trace& trace, const ArgsOf& args, std::string_view key);

}  // namespace tacho
