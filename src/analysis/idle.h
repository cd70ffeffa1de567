#pragma once

#include <string>
#include <vector>

#include "analysis/device_work.h"
#include "analysis/launches.h"
#include "analysis/ops.h"

namespace tacho {

// Why a device was idle. Each nanosecond of a device's idle time has one cause, told from the launch call of
// the work that ended the gap:
//
//   gap      a |--------------------------| b      work starts
//   call          l |------|                       launched in the gap: host-late until l, then launch-latency
//   call   l |---------|                           still being launched when the gap began: launch-latency
//   call  |--|                                     launched before: queued, or in-graph
enum class IdleCause : uint8_t {
  kHostLate,        // the work that ended the gap was launched only after the gap began: until its launch call
  kLaunchLatency,   // from the launch call's start, or the gap's if that is later, to the work's own start
  kQueued,          // its launch call had returned before the gap began: it waited on the device's side
  kInGraph,         // between two pieces of work of one launch call (a CUDA or HIP graph)
  kHost,            // a CPU engine: the executing thread was between operators, see DeviceWork
  kUnknown,         // the launch is not in the trace, or nothing ended the gap before the scope's window did
  kCount,
};
std::string_view IdleCauseId(IdleCause cause);  // "host-late", ...

struct IdleGap {
  std::string device;
  Interval when;
  std::string before, after;  // names of the work that ends last before it and starts after it
  IdleCause cause = IdleCause::kUnknown;  // the one with the largest part
  // The innermost host slice that covers most of the host's part (until the launch call; on a CPU engine all
  // of the gap); "" when the thread was longer outside of all slices.
  std::string host;
  std::string host_track;     // "pid/tid" of the launching (on a CPU engine the executing) thread; "" when unknown
};

struct IdleCauseRow {
  IdleCause cause = IdleCause::kUnknown;
  DurationNs total;
  uint64_t count = 0;  // gaps that have a part of this cause
};

// The idle time of all devices, and its longest gaps. window = busy + sum of the causes, exactly.
struct IdleTable {
  DurationNs window, busy;           // summed over devices
  std::vector<IdleCauseRow> causes;  // every cause with time, longest first
  std::vector<IdleGap> gaps;         // the `max_gaps` longest, longest first, then by start and device
};
// `links` and `host` are LinkLaunches's and BuildHostTree's of the same trace. Gaps are those of
// DeviceTime: with a window, what is idle at its two ends counts. Cost: O(n) over sorted items, and for
// each gap that is listed the host slices inside it.
IdleTable AttributeIdle(const Trace& trace, const DeviceWork& work, const LaunchLinks& links,
                        const HostTree& host, const Scope& scope = {}, size_t max_gaps = 50);

}  // namespace tacho
