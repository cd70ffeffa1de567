#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/evidence/work_alike.h"
#include "model/track_index.h"

namespace tacho {

// Calls that put work onto a device and have no row of it, and why.
//
// Judged are calls of kernels, graphs and copies that can be joined with rows: with a correlation,
// in a trace whose rows name theirs. Memsets are judged where they have a row: real traces hold
// some without although nothing is lost.
struct RowlessCalls {
  std::vector<uint32_t> judged;  // rows of Trace::host_calls, by start, then row
  std::vector<uint32_t> lost;    // of them those that should have a row, in the same order
  // Without a row by nature:
  // Made while the process captured a stream: recorded into a graph, not run.
  uint64_t captured = 0;
  uint64_t failed = 0;            // returned an error
  std::vector<uint32_t> cut_off;  // none before TakeCutOff; in the order of `judged`
};

// Cost: O(n) over host calls and GPU work; a sort of the judged calls where the file has them in no
// order.
RowlessCalls FindRowlessCalls(const TrackIndex& index, const LaunchLinks& links);

// Moves calls whose work need not have ended with the recording out of `judged` and `lost`: nothing
// that was launched later has run on its stream, no call since has waited for the device, and its
// turn (turns.h) had no more time than the longest wait of a turn on the stream and the longest
// piece of work. Cost: O(n).
void TakeCutOff(const Trace& trace, const WorkByLikeness& works, RowlessCalls& found);

// When the recording of calls and work ended: other recorders may go on.
TimeNs EndOfRecording(const Trace& trace);

}  // namespace tacho
