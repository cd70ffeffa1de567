#pragma once

#include <cstdint>

#include "model/trace.h"

namespace tacho {

// Whether a trace holds several processes that launched work. Scripts write such files: they put
// the traces of several ranks into one.
enum class RanksInside : uint8_t {
  kOne,
  kApart,  // several, each with devices and correlations of its own
  kMixed,  // several, and it is unknown whose work is whose
};

// Each process numbers its own correlations: two launches with the same one are of two processes,
// even if both have the same pid. A pid in front of a device's stream belongs to one rank; in
// Kineto's files it is the device's number. If pids name their rank (Process::rank), that tells the
// ranks apart. Cost: O(n log n) for n host calls and pieces of GPU work.
RanksInside FindRanksInside(const Trace& trace);

}  // namespace tacho
