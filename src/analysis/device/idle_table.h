#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/in_flight.h"
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
// The gap is always that of the whole trace: a window cuts its parts but does not change their
// causes.
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
  // A CPU engine: the executing thread was in a wrapper (device_work.h), but in no operator that
  // the wrapper calls.
  kInOperator,
  // Would be kHostLate or kHost, but lies between two steps of the engine (StepExtents): there was
  // no work, or the host had not begun it.
  kBetweenSteps,
  // No request was in flight; takes precedence over all other causes.
  kNoRequest,
  // The launch is not in the trace, or no work ends the gap.
  kUnknown,
  // Would be kHostLate, kInLaunchCall or kBetweenSteps, but the profiler recorded overhead of the
  // launching thread in this time (ProfilerOverhead).
  kProfiler,
  kCount,
};
inline constexpr size_t kIdleCauses = static_cast<size_t>(IdleCause::kCount);
std::string_view IdleCauseId(IdleCause cause);  // "host-late", ...
// Whether a slower host makes idle time of this cause longer.
bool IsTheHosts(IdleCause cause);

struct IdleGap {
  std::string device;
  Interval when;
  std::string before, after;  // names of the work that ends last before it and starts after it
  IdleCause cause = IdleCause::kUnknown;  // the one with the largest part
  // The innermost host slice that covers most of the host's part (until the launch call; on a CPU
  // engine all of the gap). If that is neither an operator nor a call: the Python frame of user
  // code inside it, if stacks were recorded. "" if the thread was outside of all slices for longer.
  std::string host;
  // "pid/tid" of the launching (on a CPU engine the executing) thread; "" when unknown.
  std::string host_track;
  bool host_is_annotation = false;  // `host` may be any text; else it is a name of code
};

struct IdleCauseRow {
  IdleCause cause = IdleCause::kUnknown;
  DurationNs total;
  uint64_t count = 0;  // gaps that have a part of this cause
  // For kInLaunchCall, kLaunchLatency and kWaiting: the launch call with most of the time. For
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
  // If kKnown or kShared: requests count this much longer at both ends.
  DurationNs requests_uncertainty;
  // How much of the devices' time, also before the window, earlier work may have taken: see
  // earlier_work.h.
  DurationNs may_be_busy;
  std::vector<IdleGap> gaps;  // the `max_gaps` longest, longest first, then by start and device
};
// The idle time of unknown cause, and whether it is so much that the share of any other cause is
// only a lower bound ("at least").
DurationNs UnknownTime(const IdleTable& idle);
bool MuchIsUnknown(const IdleTable& idle);

// Whether the share of the first cause in `idle` is a lower bound. `idle` has at least one cause.
bool IsAtLeast(const IdleTable& idle);

}  // namespace tacho
