#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// Bytes that were allocated, less those released, while calls of a row ran, on any thread; `self`
// without those of their direct children. Devices are all that are no CPU.
struct MemoryUse {
  int64_t cpu_total = 0, cpu_self = 0, device_total = 0, device_self = 0;
};

// One host operator by name (and input shapes). Self time is duration minus direct children; the
// tree is made per (pid, tid) over cpu_op, user_annotation and the calls of Trace::host_calls:
// sorted by (start, -end), a slice is the child of the last one that is still open and ends no
// earlier. Device time of an op is that of the GPU work it launched (self) and of its children's
// (total): work belongs to the innermost op around its launch call, or, where no op is around the
// call or the call is not in the file, to the op of its "External id". Ops count, whole, when they
// start inside the scope. ProfilerStep#7, an operator in old files, does not count.
struct OpRow {
  std::string name;
  std::string shapes;       // JSON text of "Input Dims"; "" by name only
  bool annotation = false;  // in key_averages: rows of annotations stand apart from operators
  uint64_t count = 0;
  DurationNs cpu_total, cpu_self, device_total, device_self;
  // The totals of calls that do not lie inside another of the same name (and shapes) on their
  // thread: never more than the time that passed. In key_averages the totals again.
  DurationNs cpu_outermost = {}, device_outermost = {};
  std::optional<int64_t> flops = {};     // op_flops.h
  std::optional<MemoryUse> memory = {};  // in key_averages, where memory was recorded
};

// As PyTorch's key_averages() has its host rows: annotations, calls and Python frames stand beside
// the ops (an annotation and an op of one name are two rows), an only child of its parent's name is
// one with it, a slice that was unfinished has no self time, and "[memory]" counts allocations
// outside of all others. metrics.md says how it differs. By cpu_self, longest first, then name.
struct KeyAverages {
  std::vector<OpRow> rows;
  // As group_by_input_shape=True groups them, where a list of tensors has the shape []; empty when
  // no shapes were recorded.
  std::vector<OpRow> by_shape;
};

struct OpTable {
  std::vector<OpRow> rows;      // by name: cpu_op only; by cpu_self, longest first, then name
  std::vector<OpRow> by_shape;  // by (name, shapes); empty when no shapes were recorded
  KeyAverages key_averages;     // empty unless asked for: with Python stacks it costs more than all
};

// Without key_averages. Cost: O(n); 40 bytes an operator.
OpTable TabulateOps(const TrackIndex& index, const LaunchLinks& links, const Scope& scope = {});

// OpTable::key_averages.
KeyAverages AverageByKey(const TrackIndex& index, const LaunchLinks& links,
                         const Scope& scope = {});

// The slices that it counts, one by one, but those that were unfinished: PyTorch's
// function_events. By thread, then start.
struct KeyEvent {
  SliceKind kind;
  uint32_t row;  // in the table of its kind
  DurationNs self, device_self;
};
std::vector<KeyEvent> EventsByKey(const TrackIndex& index, const LaunchLinks& links,
                                  const Scope& scope = {});

}  // namespace tacho
