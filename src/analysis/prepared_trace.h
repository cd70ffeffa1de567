#pragma once

#include "analysis/device/device_time.h"
#include "analysis/device/device_work.h"
#include "analysis/device/idle.h"
#include "analysis/device/launches.h"
#include "analysis/evidence/integrity.h"
#include "analysis/ranks/comm_candidates.h"
#include "analysis/steps/steps.h"
#include "model/track_index.h"

namespace tacho {

// What all analyses and views of a trace start from, computed once. Refers to the trace, which must
// outlive it. Memory: mainly about 40 bytes for each piece of device work.
struct PreparedTrace {
  TrackIndex index;
  LaunchLinks links;                     // of the whole trace
  StepTable steps;                       // of the scope
  std::vector<uint32_t> steps_of_calls;  // StepsOfCalls of `steps`; empty on a CPU engine
  DeviceWork work;                       // of the scope
  Integrity integrity;                   // of the whole trace; its doubtful time is of the scope
  Communication communication;           // of the whole trace
};
PreparedTrace Prepare(const Trace& trace, const Classifier& classifier, const Scope& scope = {},
                      size_t threads = 1);

// Whether the trace shows when the scope's devices were idle.
bool KnowsIdleTime(const PreparedTrace& prepared, const Scope& scope);
// Calls AttributeIdle and keeps only what the evidence allows: no idle time if it is unknown, and
// no causes if host and device have no common clock. `prepared.work` must hold only devices of the
// scope.
IdleTable IdleOf(const PreparedTrace& prepared, const Scope& scope = {},
                 const InFlight* in_flight = nullptr, size_t max_gaps = kListedGaps,
                 const OnStretch& on_stretch = {});
// DecomposeDeviceTime as far as the evidence allows: figures that are unknown are cleared.
std::vector<DeviceTime> DeviceTimesOf(const PreparedTrace& prepared, const Scope& scope = {});

}  // namespace tacho
