#pragma once

#include <vector>

#include "analysis/compare/gate.h"
#include "analysis/compare/run_changes.h"
#include "text/document.h"

namespace tacho {

struct CompareView {
  TextStyle style;
  size_t top = 12;      // how many rows of long tables are shown
  bool all = false;     // shows also what did not change beyond noise, and figures without bounds
  bool anyway = false;  // compares in spite of obstacles, which become remarks
};

// The whole comparison: the verdict, gates, steps by phase, which parts of a step or window account
// for the change, and kernels.
Document CompareDocument(const RunChanges& changes, const std::vector<GateResult>& gates,
                         const CompareView& view);

}  // namespace tacho
