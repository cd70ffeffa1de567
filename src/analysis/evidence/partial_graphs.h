#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "model/trace.h"

namespace tacho {

// A graph launch that has some GPU rows in the trace, but not one for each node of its graph.
struct PartialGraph {
  uint32_t call = 0;     // row of Trace::host_calls
  uint64_t missing = 0;  // least number of pieces of work without a row
};

// Finds the graph launches that lack rows, by comparing the launches of one graph with each other.
//
// Launches are of one graph if they share "graph node id"s (Kineto since 2026, nsys node by node)
// or a "graph id"; each should have all nodes that any of them has. Without ids, a launch is
// compared with larger launches that have pieces of the same names and additional pieces. These
// additional pieces count as missing only if the smaller launch is unlikely to be of another graph:
// no other launch has exactly its list of names, and one of these holds:
//   - It is the first call with a row, and its pieces are the last ones of the larger launch.
//   - The call after it has no row.
//   - It has holes: it has at least half of the larger launch's pieces, with all of the names, and
//     they are neither the first nor the last ones of the larger launch. Two or more launches must
//     have the larger launch's list of names.
//
// The result is sorted by call. `judged`: RowlessCalls::judged. Cost: O(n) if all launches have the
// same number of rows; else a sort of each launch's names, and comparison with at most 128 others.
std::vector<PartialGraph> FindPartialGraphs(const Trace& trace, const LaunchLinks& links,
                                            const std::vector<uint32_t>& judged);

}  // namespace tacho
