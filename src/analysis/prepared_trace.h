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

// What the analyses and the views of one trace build on, made once for all of them. Refers to the
// trace, which must outlive it. Memory: that of its parts, some 40 bytes a piece of device work.
struct PreparedTrace {
  TrackIndex index;
  LaunchLinks links;            // of the whole trace
  StepTable steps;              // of the scope
  DeviceWork work;              // of the scope
  Integrity integrity;          // of the whole trace; its doubtful time is of the scope
  Communication communication;  // of the whole trace
};
PreparedTrace Prepare(const Trace& trace, const Classifier& classifier, const Scope& scope = {},
                      size_t threads = 1);

// Whether the rows of the scope's devices show when these were idle.
bool KnowsIdleTime(const PreparedTrace& prepared, const Scope& scope);
// AttributeIdle as far as the evidence allows: no idle time where it is unknown, and no causes
// without a common clock. `prepared.work`: of the devices of the scope.
IdleTable IdleOf(const PreparedTrace& prepared, const Scope& scope = {},
                 const InFlight* in_flight = nullptr, size_t max_gaps = kListedGaps,
                 const OnStretch& on_stretch = {});
// DecomposeDeviceTime as far as the evidence allows.
std::vector<DeviceTime> DeviceTimesOf(const PreparedTrace& prepared, const Scope& scope = {});

}  // namespace tacho
