#pragma once

#include <cstdint>

#include "simulate/engine/faults.h"

namespace tacho::simulate {

// Which calls and device work a profiler loses, and how wrong its device clock is.
struct RecorderLoss {
  int64_t first = 0;  // pieces of device work lost at the start of the session
  // Only every Nth graph replay has device work in the trace; 0: each has.
  int64_t replays_kept = 0;
  int64_t stops_early_ns = 0;  // calls and device work end this long before the window's end
  int64_t skew_ns = 0;         // device clock minus host clock
  double drift_ppm = 0;        // counted from the start of the window
};

// What a process loses in its session number `session`, which counts from 1.
RecorderLoss LossOf(const Faults& faults, int64_t worker, int64_t session);

}  // namespace tacho::simulate
