#pragma once

#include <vector>

#include "analysis/compare/gate.h"
#include "analysis/compare/run_changes.h"
#include "text/document.h"

namespace tacho {

struct CompareView {
  TextStyle style;
  size_t top = 12;      // the rows shown of long tables
  bool all = false;     // also what did not change beyond noise, and figures without bounds
  bool anyway = false;  // obstacles are remarks
};

// All of a comparison: the verdict, gates, steps by phase, the way from base to new by part, and
// kernels.
Document CompareDocument(const RunChanges& changes, const std::vector<GateResult>& gates,
                         const CompareView& view);

}  // namespace tacho
