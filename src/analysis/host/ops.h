#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// Bytes allocated less bytes released while calls of a row ran, on any thread; `self` is without
// those of their direct children. Devices are all that are not a CPU.
struct MemoryUse {
  int64_t cpu_total = 0, cpu_self = 0, device_total = 0, device_self = 0;
};

// One host operator by name (and input shapes). Self time is duration minus direct children; the
// tree is made per (pid, tid) over cpu_op, user_annotation and the calls of Trace::host_calls:
// sorted by (start, -end), a slice is the child of the last one that is still open and ends no
// earlier. Device time of an op is the time of the GPU work it launched (self), and with its
// children's (total): work belongs to the innermost op around its launch call, or, where no op is
// around the call or the call is not in the file, to the op of its "External id". Ops count, whole,
// when they start inside the scope. ProfilerStep#7, an operator in old files, does not count.
struct OpRow {
  std::string name;
  std::string shapes;       // JSON text of "Input Dims"; "" by name only
  bool annotation = false;  // in key_averages: rows of annotations stand apart from operators
  uint64_t count = 0;
  DurationNs cpu_total, cpu_self, device_total, device_self;
  // The totals of calls that do not lie inside another of the same name (and shapes) on their
  // thread: never more than the time that passed. In key_averages they equal the totals.
  DurationNs cpu_outermost = {}, device_outermost = {};
  std::optional<int64_t> flops = {};     // op_flops.h
  std::optional<MemoryUse> memory = {};  // in key_averages, where memory was recorded
};

// The host rows of PyTorch's key_averages(): annotations, calls and Python frames stand beside the
// ops (an annotation and an op of one name are two rows), an only child with its parent's name is
// merged into the parent, an unfinished slice has no self time, and "[memory]" counts allocations
// outside of all others. metrics.md says how it differs. By cpu_self, longest first, then name.
struct KeyAverages {
  std::vector<OpRow> rows;
  // The rows by input shape, as with group_by_input_shape=True, where a list of tensors has the
  // shape []; empty when no shapes were recorded.
  std::vector<OpRow> by_shape;
};

struct OpTable {
  std::vector<OpRow> rows;      // by name: cpu_op only; by cpu_self, longest first, then name
  std::vector<OpRow> by_shape;  // by (name, shapes); empty when no shapes were recorded
  // Empty unless requested: with Python stacks it costs more than all else.
  KeyAverages key_averages;
};

// Leaves key_averages empty. Cost: O(n); 40 bytes an operator.
OpTable TabulateOps(const TrackIndex& index, const LaunchLinks& links, const Scope& scope = {});

// OpTable::key_averages.
KeyAverages AverageByKey(const TrackIndex& index, const LaunchLinks& links,
                         const Scope& scope = {});

// One slice that key_averages counts. EventsByKey gives all but unfinished ones, by thread, then
// start: PyTorch's function_events.
struct KeyEvent {
  SliceKind kind;
  uint32_t row;  // in the table of its kind
  DurationNs self, device_self;
};
std::vector<KeyEvent> EventsByKey(const TrackIndex& index, const LaunchLinks& links,
                                  const Scope& scope = {});

}  // namespace tacho
