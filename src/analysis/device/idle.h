#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/device/device_work.h"
#include "analysis/device/in_flight.h"
#include "analysis/device/launches.h"
#include "analysis/host/ops.h"
#include "base/interval_set.h"

namespace tacho {

// Why a device was idle. Each nanosecond of a device's idle time has one cause. On a GPU it follows
// from the launch call of the work that ended the gap [a, b):
//
//        a |--------------------------| b
//               |------|                  launched inside: host-late, in-launch-call, then
//                                         launch-latency or waiting
//      |--------|                         still being launched at a: in-launch-call first
//   |--|                                  launched before: queued, or in-graph
//
// The gap is that of the whole trace: a window cuts its parts and does not change their causes.
enum class IdleCause : uint8_t {
  // The work was launched only after the gap began: from there to the start of its launch call.
  kHostLate,
  // The launch call was still running.
  kInLaunchCall,
  // From the end of the launch call to the start of the work, the first millisecond of it.
  kLaunchLatency,
  // The rest of that, or all of it when the launching thread had made the stream wait for an event
  // (a *StreamWaitEvent call between this launch and its last one): held back on the device's side
  // by an event or another queue.
  kWaiting,
  // The launch call had returned before the gap began: the work waited on the device's side.
  kQueued,
  // Another piece of the same launch call (a CUDA or HIP graph) had begun on the device before.
  kInGraph,
  // A CPU engine: the executing thread was in none of its operators, see DeviceWork.
  kHost,
  // A CPU engine: the executing thread was in a wrapper (device_work.h), in nothing that it calls.
  kInOperator,
  // What would be kHostLate or kHost, and lies between two steps of the engine (StepExtents): no
  // work was there, or the engine was scheduling.
  kBetweenSteps,
  // Whatever else: no request was in flight.
  kNoRequest,
  // The launch is not in the trace, or no work ends the gap.
  kUnknown,
  // What would be kHostLate, kInLaunchCall or kBetweenSteps, and in which the profiler recorded
  // overhead of the launching thread (ProfilerOverhead).
  kProfiler,
  kCount,
};
std::string_view IdleCauseId(IdleCause cause);  // "host-late", ...

struct IdleGap {
  std::string device;
  Interval when;
  std::string before, after;  // names of the work that ends last before it and starts after it
  IdleCause cause = IdleCause::kUnknown;  // the one with the largest part
  // The innermost host slice that covers most of the host's part (until the launch call; on a CPU
  // engine all of the gap); where that is no operator and no call, the Python frame of user code
  // inside it, if stacks were recorded; "" when the thread was longer outside of all.
  std::string host;
  // "pid/tid" of the launching (on a CPU engine the executing) thread; "" when unknown.
  std::string host_track;
  bool host_is_annotation = false;  // any text, while others are names of code
};

struct IdleCauseRow {
  IdleCause cause = IdleCause::kUnknown;
  DurationNs total;
  uint64_t count = 0;  // gaps that have a part of this cause
  // Of kInLaunchCall, kLaunchLatency and kWaiting: the launch call with most of the time. Of
  // kProfiler: the overhead with most of it.
  std::string call = {};
};

// The idle time of all devices, and its longest gaps. window = busy + sum of the causes, exactly.
struct IdleTable {
  // False: work was lost, so it is unknown when the devices were idle, and there is no cause.
  bool known = true;
  DurationNs window, busy;           // summed over devices
  std::vector<IdleCauseRow> causes;  // every cause with time, longest first
  Requests requests = Requests::kUnknown;
  DurationNs requests_uncertainty;  // where known or shared: they count so much longer at both ends
  // Of the devices' time, also before the window: see earlier_work.h.
  DurationNs may_be_busy;
  std::vector<IdleGap> gaps;  // the `max_gaps` longest, longest first, then by start and device
};
// Idle time of one device with one cause.
struct IdleStretch {
  Interval when;
  uint32_t device = 0;  // index into DeviceWork::devices
  IdleCause cause = IdleCause::kUnknown;
  StringId before{}, after{};  // as in IdleGap
  // The work that `after` names: index into the device's items. None of work beyond the window.
  static constexpr uint32_t kNoItem = 0xffffffff;
  uint32_t after_item = kNoItem;
};
// Called device by device, in the order of time. The stretches of a device do not overlap; their
// sums by cause are the table's.
using OnStretch = std::function<void(const IdleStretch&)>;

// `links` is LinkLaunches's of the same trace. Gaps are those of DeviceTime: with a window, what is
// idle at its two ends counts. `in_flight` is null where it is unknown. Cost: O(n) over the items
// and host calls, and a look at the host slices that touch a listed gap. `on_stretch`, unless
// empty, gets all of the idle time: once or more a gap.
inline constexpr size_t kListedGaps = 50;
// Where causes are known; elsewhere they are kUnknown.
struct KnownCauses {
  bool common_clock = true;  // of host and device; false: nowhere
  // Not in gaps that touch it: work may have run there that is not in the trace. Null: none.
  const IntervalSet* not_in = nullptr;
};
IdleTable AttributeIdle(const TrackIndex& index, const DeviceWork& work, const LaunchLinks& links,
                        const Scope& scope = {}, const InFlight* in_flight = nullptr,
                        size_t max_gaps = kListedGaps, const OnStretch& on_stretch = {},
                        const KnownCauses& causes = {});

}  // namespace tacho
