#pragma once

#include <cstdint>
#include <string>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Pieces of work that cannot have run as the file says. Pieces are compared if one thread launched
// them onto one stream, but not by graphs. No correct real trace has an impossible one, not even
// with programmatic launch, where a piece may start while the one before it still runs.
struct ImpossibleWork {
  uint64_t compared = 0;
  uint64_t out_of_order = 0;  // start before a piece that was launched earlier has started
  uint64_t stacked = 0;       // start while three or more that were launched earlier still run
  uint64_t first = 0;         // row of Trace::gpu; only if there are any

  [[nodiscard]] uint64_t count() const { return out_of_order + stacked; }
  // So many that no time of the device means anything: rows were written in bursts, as ROCm does
  // when it flushes a buffer.
  [[nodiscard]] bool times_refused() const { return count() >= 3 && 100 * count() > compared; }
};
// Cost: O(n).
ImpossibleWork FindImpossibleWork(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
