#pragma once

#include <cstdint>

#include "model/trace.h"

namespace tacho {

// Whether a trace holds the work of several processes. Scripts write such files when they merge the
// traces of several ranks.
enum class RanksInside : uint8_t {
  kOne,
  kApart,  // several processes, each with devices and correlations of its own
  kMixed,  // several processes, and it is unknown whose work is whose
};

// Each process numbers its launches itself (the correlation). So two launches with the same
// correlation are of two processes, even if both have the same pid. GPU rows of one device with
// different pids also are of several processes, since Kineto writes the device's number as the pid.
// If pids name their rank (Process::rank), ranks are distinguished by that. Cost: O(n log n) for n
// host calls and GPU rows.
RanksInside FindRanksInside(const Trace& trace);

}  // namespace tacho
