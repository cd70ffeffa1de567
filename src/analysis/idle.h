#pragma once

#include <string>
#include <vector>

#include "analysis/device_work.h"
#include "analysis/launches.h"
#include "analysis/ops.h"

namespace tacho {

// Why a device was idle. Each nanosecond of a device's idle time has one cause.
enum class IdleCause : uint8_t {
  kHostLate,        // the work that ended the gap was launched only after the gap began, host part
  kLaunchLatency,   // from its launch call's start to its own start
  kQueued,          // it was launched before the gap began: it waited on the device's side
  kInGraph,         // between two pieces of work of one graph launch
  kHost,            // a CPU engine: the executing thread was between leaf operators
  kUnknown,         // the launch is not in the trace
  kCount,
};
std::string_view IdleCauseId(IdleCause cause);  // "host-late", ...

struct IdleGap {
  std::string device;
  Interval when;
  std::string before, after;  // names of the work that ends and starts it
  IdleCause cause;            // the one with the largest part
  std::string host;           // the host slice that covers most of the host's part; "" when unknown
  std::string host_track;     // "pid/tid" of the launching thread; "" when unknown
};

struct IdleCauseRow {
  IdleCause cause;
  DurationNs total;
  uint64_t count = 0;  // gaps that have a part of this cause
};

// The idle time of all devices, and its longest gaps. window = busy + sum of the causes, exactly.
struct IdleTable {
  DurationNs window, busy;           // summed over devices
  std::vector<IdleCauseRow> causes;  // every cause with time, longest first
  std::vector<IdleGap> gaps;         // the `max_gaps` longest, longest first, then by start
};
IdleTable AttributeIdle(const Trace& trace, const DeviceWork& work, const LaunchLinks& links,
                        const HostTree& host, const Scope& scope = {}, size_t max_gaps = 50);

}  // namespace tacho
