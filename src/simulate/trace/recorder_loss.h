#pragma once

#include <cstdint>

#include "simulate/engine/faults.h"

namespace tacho::simulate {

// What a profiler loses of calls and device work, and how its device clock is off.
struct RecorderLoss {
  int64_t first = 0;           // pieces of device work at the start of the session
  int64_t replays_kept = 0;    // of graph replays only each nth has rows; 0: all have
  int64_t stops_early_ns = 0;  // calls and device work end this long before the window does
  int64_t skew_ns = 0;         // of the device's clock against the host's
  double drift_ppm = 0;        // from the start of the window on
};

// The loss in the nth session of a process, counted from 1.
RecorderLoss LossOf(const Faults& faults, int64_t worker, int64_t session);

}  // namespace tacho::simulate
