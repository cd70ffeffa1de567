#pragma once

#include <cstdint>

#include "model/trace.h"

namespace tacho {

// Whether a trace holds several processes that launched work, as scripts write them that put the
// traces of ranks into one file.
enum class RanksInside : uint8_t {
  kOne,
  kApart,  // several, each with devices and correlations of its own
  kMixed,  // several, and nothing tells whose work is whose
};

// A process counts its correlations: if two launches have the same one, they are of two processes,
// even if both have the same pid. A pid in front of a device's stream is that of one rank: in
// Kineto's files it is the device's number. Files in which pids name their rank (Process::rank) are
// told apart by that. Cost: of the host calls and the GPU work.
RanksInside FindRanksInside(const Trace& trace);

}  // namespace tacho
