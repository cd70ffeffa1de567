#pragma once

#include <string>

#include "export/export_window.h"
#include "view/viewed_run.h"

namespace tacho {

// A rank to export, and the part of it: the slices that touch the window, uncut (but see PartCut).
struct ExportedRank {
  const ViewedRank* rank;
  uint32_t number;         // in its run, from 0
  Interval window;         // on the clock of its trace
  std::string label = {};  // its distinguishing name: "rank 3", or the name of its file
};

// Cuts the slices that may last as long as the recording: Python frames, and slices that are
// neither work nor host code, such as "PyTorch Profiler (0)". They are cut to the extent of the
// window together with all other slices that touch it, so that slices nest as before. Cost of
// making: O(slices in the window).
class PartCut {
 public:
  explicit PartCut(const ExportedRank& exported);
  [[nodiscard]] Interval Of(SliceRef slice, Interval when) const;

 private:
  Interval reach_ = kAllTime;
};

// How many slices touch the window. Cost: O(l log n) for l lanes.
size_t SlicesIn(const ViewedRank& rank, Interval window);

}  // namespace tacho
