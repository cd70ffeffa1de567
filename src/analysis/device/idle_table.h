#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/in_flight.h"
#include "base/interval_set.h"

namespace tacho {

// Why a device was idle. Each nanosecond of a device's idle time has exactly one cause. On a GPU
// the cause of a gap [a, b) follows from when the work that ended the gap was launched. The three
// lower bars show three possible times of its launch call:
//
//        a |--------------------------| b
//               |------|                  launched inside: host-late, in-launch-call, then
//                                         launch-latency or waiting
//      |--------|                         still being launched at a: in-launch-call first
//   |--|                                  launched before: queued, or in-graph
//
// "Gap" means the gap in the whole trace. A window limits how much of the gap is counted but does
// not change the causes.
enum class IdleCause : uint8_t {
  // The work was launched only after the gap began. This is the time from the gap's start to the
  // start of the launch call.
  kHostLate,
  // The launch call was running.
  kInLaunchCall,
  // The first millisecond from the end of the launch call to the start of the work.
  kLaunchLatency,
  // The rest of the time from the end of the launch call to the start of the work: an event or
  // another queue held the work back on the device. If the launching thread had called
  // *StreamWaitEvent since its previous launch, there is no kLaunchLatency and all of this time is
  // kWaiting.
  kWaiting,
  // The launch call had returned before the gap began: the work was waiting on the device.
  kQueued,
  // The launch call launched several pieces of work (a CUDA or HIP graph), and another piece had
  // already begun on the device.
  kInGraph,
  // On a CPU engine: the executing thread was in no operator (see DeviceWork).
  kHost,
  // On a CPU engine: the executing thread was in a wrapper operator (device_work.h), but in none of
  // the operators that the wrapper calls.
  kInOperator,
  // Time that would be kHostLate or kHost, but lies between two engine steps (StepExtents): the
  // engine had nothing to do, or the host had not begun the next step.
  kBetweenSteps,
  // No request was in flight. This cause comes before all others.
  kNoRequest,
  // The trace lacks the launch call, or no work ends the gap.
  kUnknown,
  // Time that would be kHostLate, kInLaunchCall or kBetweenSteps, but in which the profiler
  // recorded overhead of its own on the launching thread (ProfilerOverhead).
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
  // Names of the work that ends last before the gap, and of the work that ends the gap.
  std::string before, after;
  IdleCause cause = IdleCause::kUnknown;  // the cause with the largest part of the gap
  // What the host did until the launch call began (on a CPU engine: during the whole gap). Each
  // instant of this time counts for the innermost host slice; `host` is the name of the slice with
  // the most time. If this slice is an annotation, and if stacks were recorded: the Python frame of
  // user code inside it. If more time was outside of all slices than in any of them: the Python
  // frame of user code, or "" if there is none.
  std::string host;
  // "pid/tid" of the launching thread; on a CPU engine, of the executing thread; "" if unknown.
  std::string host_track;
  bool host_is_annotation = false;  // true: `host` may be any text; false: the name of code
};

struct IdleCauseRow {
  IdleCause cause = IdleCause::kUnknown;
  DurationNs total;
  uint64_t count = 0;  // gaps that have a part of this cause
  // For kInLaunchCall, kLaunchLatency and kWaiting: the launch call that has at least 80 % of this
  // time, "" if no call has. For kProfiler: the overhead that has the most time.
  std::string call = {};
};

// The idle time of all devices by cause, and the longest gaps. window = busy + the sum of all
// causes, exactly.
struct IdleTable {
  // False: device work was lost. Then idle time is unknown, and `causes` is empty.
  bool known = true;
  DurationNs window, busy;           // summed over devices
  std::vector<IdleCauseRow> causes;  // every cause with time, longest first
  Requests requests = Requests::kUnknown;
  // If `requests` is kKnown or kShared: a request counts as in flight for this much longer at both
  // ends.
  DurationNs requests_uncertainty;
  // How long the devices may have been busy with work from before the recording (earlier_work.h).
  // Without a window, this includes time before the first recorded work.
  DurationNs may_be_busy;
  // The longest gaps, at most `max_gaps`, longest first, then by start and device.
  std::vector<IdleGap> gaps;
};
// UnknownTime: the idle time of unknown cause. MuchIsUnknown: whether it is at least 1 % of the
// idle time, so that the share of any other cause is only a lower bound ("at least").
DurationNs UnknownTime(const IdleTable& idle);
bool MuchIsUnknown(const IdleTable& idle);

// Whether the share of the first cause in `idle` is only a lower bound. `idle` has at least one
// cause.
bool IsAtLeast(const IdleTable& idle);

}  // namespace tacho
