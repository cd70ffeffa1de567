#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/host/gemms.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// Bytes allocated minus bytes released while calls of a row ran, on any thread. `self` does not
// count those of the calls' direct children. A device is anything that is not a CPU.
struct MemoryUse {
  int64_t cpu_total = 0, cpu_self = 0, device_total = 0, device_self = 0;
};

// All calls of one host operator name (and of the same input shapes, in tables by shape) that start
// inside the scope. They count with their whole duration. ProfilerStep#7 is an operator in old
// files but does not count.
//
// Self time is an operator's duration minus that of its direct children. The tree is built for each
// thread (pid, tid) from cpu_op, user_annotation and the calls of Trace::host_calls: sorted by
// (start, -end), a slice is the child of the last slice that is still open and does not end before
// it.
//
// Device time is the time of the GPU work that an operator launched itself (self), or with that of
// its children (total). Work belongs to the innermost operator around its launch call. If no
// operator is around the call, or the call is not in the file, work belongs to the operator that
// its "External id" names.
struct OpRow {
  std::string name;
  std::string shapes;       // JSON text of "Input Dims"; "" in tables by name only
  bool annotation = false;  // true only in key_averages, where annotations have rows of their own
  uint64_t count = 0;
  DurationNs cpu_total, cpu_self, device_total, device_self;
  // The totals of only those calls that are not inside another call of the same row on their
  // thread. No time is counted twice, so they never exceed the time that passed. In key_averages
  // they equal the totals.
  DurationNs cpu_outermost = {}, device_outermost = {};
  std::optional<int64_t> flops = {};     // see op_flops.h
  std::optional<MemoryUse> memory = {};  // only in key_averages, if memory was recorded
};

// The host rows of PyTorch's key_averages(). They differ from OpTable::rows: there are rows for
// annotations, calls and Python frames too (an annotation and an operator of the same name are two
// rows); an only child with its parent's name is merged into the parent; an unfinished slice has no
// self time; and "[memory]" counts allocations outside of all other slices. metrics.md says how the
// rows differ from PyTorch's. Sorted by cpu_self, longest first, then by name.
struct KeyAverages {
  std::vector<OpRow> rows;
  // The same by name and input shapes, as with group_by_input_shape=True. A list of tensors has the
  // shape []. Empty when no shapes were recorded.
  std::vector<OpRow> by_shape;
};

struct OpTable {
  std::vector<OpRow> rows;  // by name, cpu_op only; sorted by cpu_self, longest first, then by name
  std::vector<OpRow> by_shape;  // by (name, shapes); empty when no shapes were recorded
  std::vector<GemmRow> gemms;   // longest first; empty when no shapes were recorded
  // Empty unless requested: with Python stacks it costs more than all other tables together.
  KeyAverages key_averages;
};

// Leaves key_averages empty. Cost: O(n) time; 40 bytes an operator.
OpTable TabulateOps(const TrackIndex& index, const LaunchLinks& links, const Scope& scope = {});

// Computes OpTable::key_averages.
KeyAverages AverageByKey(const TrackIndex& index, const LaunchLinks& links,
                         const Scope& scope = {});

// One slice that key_averages counts. EventsByKey returns all of them except unfinished ones,
// sorted by thread, then by start, as PyTorch's function_events.
struct KeyEvent {
  SliceKind kind;
  uint32_t row;  // row in the table of its kind
  DurationNs self, device_self;
};
std::vector<KeyEvent> EventsByKey(const TrackIndex& index, const LaunchLinks& links,
                                  const Scope& scope = {});

}  // namespace tacho
