#pragma once

#include <cstdint>
#include <vector>

#include "analysis/launches.h"
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
  uint64_t captured = 0;  // made while a stream was captured: recorded into a graph, not run
  uint64_t failed = 0;    // returned an error
  // Made shortly before the end of the recording, and onto a stream on which nothing that was
  // launched later has run: what they launched need not have ended by then. Shortly is within the
  // longest time from a call to the end of its work, plus the longest piece of work. In the order
  // of `judged`, which lacks them.
  std::vector<uint32_t> cut_off;
};

// Cost: O(n) over host calls and GPU work; a sort of the judged calls where the file has them in no
// order.
RowlessCalls FindRowlessCalls(const TrackIndex& index, const LaunchLinks& links);

// The longest time from the start of a call to the end of its work, plus the longest piece of work.
DurationNs LongestWay(const Trace& trace, const LaunchLinks& links);

// When the recording of calls and work ended: other recorders may go on.
TimeNs EndOfRecording(const Trace& trace);

}  // namespace tacho
