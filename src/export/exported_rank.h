#pragma once

#include <string>

#include "export/export_window.h"
#include "view/viewed_run.h"

namespace tacho {

// A part of a rank to export: the slices that overlap the window. Slices are exported with their
// full times; only those that PartCut names are cut.
struct ExportedRank {
  const ViewedRank* rank;
  uint32_t number;         // its index in the run
  Interval window;         // on the clock of the rank's trace
  std::string label = {};  // a name that distinguishes it: "rank 3", or the name of its file
};

// Cuts slices that may be as long as the whole recording: Python frames, and slices that are
// neither work nor host code, such as "PyTorch Profiler (0)". They are cut to the time from the
// first start to the last end of all other exported slices and the window, so that slices nest as
// before. Cost of the constructor: O(slices in the window).
class PartCut {
 public:
  explicit PartCut(const ExportedRank& exported);
  [[nodiscard]] Interval Of(SliceRef slice, Interval when) const;

 private:
  Interval reach_ = kAllTime;
};

// How many slices overlap the window. Cost: O(l log n) for l lanes.
size_t SlicesIn(const ViewedRank& rank, Interval window);

}  // namespace tacho
