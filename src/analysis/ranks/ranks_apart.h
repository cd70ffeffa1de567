#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ranks/ranks.h"

namespace tacho {

// Which ranks of a run differ from the others ("apart"), and in which figure; the rest are alike.
struct RanksApart {
  enum class Figure : uint8_t {
    kWaitedFor,  // share of the others' windows in which they waited for it; see FindStragglers
    kLost,       // some of its work is missing, so its times are not compared
    kNoWork,     // it has no device work
    // From here on, the figures are shares of the window.
    kBusy,
    kCompute,
    kExposedComm,
    kIdle,
  };
  struct Apart {
    size_t row = 0;  // index into RankTable::rows
    Figure figure = Figure::kBusy;
    double own = 0, others = 0;  // shares, 0..1: its own, and the median of its recording
  };
  // The ranks of one worker that do not differ.
  struct Rest {
    std::string worker;  // "" if the traces name none
    size_t ranks = 0;
    double least_busy = 0, most_busy = 0;  // shares of the windows, 0..1
  };
  // Sorted by figure, then farthest from the median first. Each row appears at most once.
  std::vector<Apart> apart;
  std::vector<Rest> rest;  // sorted by worker
};

// A rank differs in a share if the distance to the median of its recording is at least 2 percentage
// points, and at least six times the median distance of all ranks. If it differs in several shares,
// the one farthest from its median is reported. Cost: O(n log n) for n ranks.
RanksApart FindRanksApart(const RankTable& table);

}  // namespace tacho
