#pragma once

#include <cstdint>
#include <string>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Pieces of GPU work that cannot have run when the file says. A piece is compared with earlier ones
// that the same thread launched onto the same stream; graph launches are left out. No correct real
// trace has an impossible piece, not even with programmatic launch, where a piece may start while
// the previous one still runs.
struct ImpossibleWork {
  uint64_t compared = 0;
  uint64_t out_of_order = 0;  // pieces that start after one that was launched later
  uint64_t stacked = 0;       // pieces that start while three or more earlier ones still run
  uint64_t first = 0;         // the first impossible piece, a row of Trace::gpu; if count() > 0

  [[nodiscard]] uint64_t count() const { return out_of_order + stacked; }
  // Whether so many pieces are impossible that no device time means anything. This happens if rows
  // are written in bursts, as ROCm does when it flushes a buffer.
  [[nodiscard]] bool times_refused() const { return count() >= 3 && 100 * count() > compared; }
};
// Cost: O(n).
ImpossibleWork FindImpossibleWork(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
