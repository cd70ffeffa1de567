#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "model/trace.h"

namespace tacho {

// A graph launch that has rows, but fewer than its graph has nodes that run.
struct PartialGraph {
  uint32_t call = 0;     // row of Trace::host_calls
  uint64_t missing = 0;  // least number of pieces of work without a row
};

// Compares the launches of one graph with each other.
//
// Launches are of one graph if they share "graph node id"s (Kineto since 2026, nsys node by node)
// or a "graph id"; each should have every node that one of them has. Without ids, launches are
// compared by the names of their pieces. A launch lacks the pieces that another launch has in
// addition only if it can hardly be of a different graph: no other launch has just these names, and
//   - no call before it has any row, and its pieces are the end of the other's, or
//   - the call after it has no row, or
//   - it has holes: at least half of the other's pieces, and all of its names; at least two
//     launches have the names of the other; and its pieces are neither the begin nor the end of the
//     other's, as the last piece of a model is.
//
// Sorted by row of the call. `judged`: RowlessCalls::judged. Cost: O(n) where all launches have the
// same number of rows; else a sort of the names of each launch, compared with at most 128 others.
std::vector<PartialGraph> FindPartialGraphs(const Trace& trace, const LaunchLinks& links,
                                            const std::vector<uint32_t>& judged);

}  // namespace tacho
