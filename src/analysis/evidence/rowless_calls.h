#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/evidence/work_alike.h"
#include "model/track_index.h"

namespace tacho {

// Calls that put work onto a device but have no row of it, and why.
//
// Calls of kernels, graphs and copies are judged if they can be joined with rows: they have a
// correlation, and the trace's rows name theirs. Memsets are judged only if they have a row: real
// traces hold some without one although nothing is lost.
struct RowlessCalls {
  std::vector<uint32_t> judged;  // rows of Trace::host_calls, by start, then row
  // Judged calls that should have a row but have none; in the same order.
  std::vector<uint32_t> lost;
  // Calls that never have a row:
  // Made while the process captured a stream: recorded into a graph, not run.
  uint64_t captured = 0;
  uint64_t failed = 0;            // returned an error
  std::vector<uint32_t> cut_off;  // filled by TakeCutOff; in the order of `judged`
};

// Cost: O(n) over host calls and GPU work; a sort of the judged calls if the file does not have
// them in order.
RowlessCalls FindRowlessCalls(const TrackIndex& index, const LaunchLinks& links);

// Moves calls from `judged` and `lost` to `cut_off` if their work may not have ended before the
// recording did: nothing that was launched later has run on its stream, no later call has waited
// for the device, and the time left for its turn (turns.h) was no longer than the longest wait of a
// turn on the stream plus the longest piece of work. Cost: O(n).
void TakeCutOff(const Trace& trace, const WorkByLikeness& works, RowlessCalls& found);

// When the recording of calls and work ended: other recorders may go on.
TimeNs EndOfRecording(const Trace& trace);

}  // namespace tacho
