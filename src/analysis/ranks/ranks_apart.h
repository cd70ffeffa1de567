#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ranks/ranks.h"

namespace tacho {

// Which ranks of a run differ from the others, and in what; the rest are alike.
struct RanksApart {
  enum class Figure : uint8_t {
    kWaitedFor,  // share of the others' windows in which they waited for it; see FindStragglers
    kLost,       // work is missing: its times are not compared
    kNoWork,     // no device work
    kBusy,       // shares of the window, from here on
    kCompute,
    kExposedComm,
    kIdle,
  };
  struct Apart {
    size_t row = 0;  // of RankTable::rows
    Figure figure = Figure::kBusy;
    double own = 0, others = 0;  // shares, 0..1: its own, and the median of its recording
  };
  // The ranks of a worker that are not apart.
  struct Rest {
    std::string worker;  // "": the traces name none
    size_t ranks = 0;
    double least_busy = 0, most_busy = 0;  // shares of the windows, 0..1
  };
  std::vector<Apart> apart;  // by figure, farthest from the median first; each row once
  std::vector<Rest> rest;    // by worker
};

// A rank is apart by a share if this is 2 points or more and six times the median distance or more
// from the median of the ranks of its recording. Of several shares, the one that is farthest away
// counts. Cost: O(n log n) for n ranks.
RanksApart FindRanksApart(const RankTable& table);

}  // namespace tacho
