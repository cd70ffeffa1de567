#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "model/trace.h"

namespace tacho {

// A graph launch that has rows, and fewer than its graph has nodes that run.
struct PartialGraph {
  uint32_t call = 0;     // row of Trace::host_calls
  uint64_t missing = 0;  // pieces of work without a row, at least
};

// Compares the launches of one graph with each other.
//
// Which launches are of one graph: those that share "graph node id"s (Kineto since 2026, nsys node
// by node) or a "graph id"; each should have every node that one of them has. Without ids a launch
// lacks what another launch has more, name by name, only where chance cannot make another graph of
// it: no other launch has just these names, and
//   - no launch before it has any row, and the other ends with what it has, or
//   - the launch after it has none, or
//   - it has holes: at least half of the other's pieces, and all of its names; the other is there
//     twice; and it is neither the begin nor the end of the other, as the last piece of a model is.
//
// By row of the call. `judged`: RowlessCalls::judged. Cost: O(n) where all launches have the same
// number of rows; else a sort of the names of each launch, compared with at most 128 others.
std::vector<PartialGraph> FindPartialGraphs(const Trace& trace, const LaunchLinks& links,
                                            const std::vector<uint32_t>& judged);

}  // namespace tacho
