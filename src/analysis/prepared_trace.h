#pragma once

#include "analysis/device_work.h"
#include "analysis/launches.h"
#include "analysis/steps.h"
#include "model/track_index.h"

namespace tacho {

// What the analyses and the views of one trace build on, made once for all of them. Refers to the
// trace, which must outlive it. Memory: that of its parts, some 40 bytes a piece of device work.
struct PreparedTrace {
  TrackIndex index;
  LaunchLinks links;  // of the whole trace
  StepTable steps;    // of the scope
  DeviceWork work;    // of the scope
};
PreparedTrace Prepare(const Trace& trace, const Classifier& classifier, const Scope& scope = {},
                      size_t threads = 1);

}  // namespace tacho
