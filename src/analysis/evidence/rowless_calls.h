#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/evidence/work_alike.h"
#include "model/track_index.h"

namespace tacho {

// Calls that launch work onto a device but have no GPU row in the trace, and why.
//
// Calls that launch kernels, graphs and copies are judged if their rows could be found: the calls
// have a correlation, and each row names the correlation of its call. Memsets are judged only if
// they have a row, because real traces have some without a row although nothing is lost.
struct RowlessCalls {
  std::vector<uint32_t> judged;  // rows of Trace::host_calls, sorted by start, then row
  // Judged calls that should have a row but have none; in the same order.
  std::vector<uint32_t> lost;
  // Calls that cannot have a row; they are not in `judged`:
  // - made while the process captured a stream, so recorded into a graph and not run;
  uint64_t captured = 0;
  // - returned an error;
  uint64_t failed = 0;
  // - their work may have ended after the recording (filled by TakeCutOff).
  std::vector<uint32_t> cut_off;
};

// Cost: O(n) over host calls and GPU work; a sort of the judged calls if the file does not have
// them in order.
RowlessCalls FindRowlessCalls(const TrackIndex& index, const LaunchLinks& links);

// Moves calls from `lost` and `judged` to `cut_off` if their work may have ended after the
// recording. Three things must hold:
// - No later call has waited for the device.
// - On some stream of similar work, nothing that was launched later has run.
// - On that stream, the time left for the missing work until the end of the recording is at most
//   the stream's longest wait plus its longest piece of work.
// Cost: O(n).
void TakeCutOff(const Trace& trace, const WorkByLikeness& works, RowlessCalls& found);

// The end of the last host call or GPU work. Other recorders may have gone on after it.
TimeNs EndOfRecording(const Trace& trace);

}  // namespace tacho
