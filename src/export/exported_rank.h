#pragma once

#include <string>
#include "export/export_window.h"

#include "view/viewed_run.h"

namespace tacho {

// A rank that is exported, and which part of it: what touches the window, whole.
struct ExportedRank {
  const ViewedRank* rank;
  uint32_t number;         // in its run, from 0
  Interval window;         // on the clock of its trace
  std::string label = {};  // what tells it apart: "rank 3", or the name of its file
};

// How many slices touch the window. Cost: O(l log n) for l lanes.
size_t SlicesIn(const ViewedRank& rank, Interval window);

}  // namespace tacho
