#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/prepared_trace.h"

namespace tacho {

// One launch of a CUDA or HIP graph.
struct Replay {
  static constexpr uint32_t kNoPlace = 0xffffffff;

  uint32_t call = 0;          // row of Trace::host_calls
  uint32_t step = kNoStep;    // the step of the call: index into StepTable::steps
  uint32_t place = kNoPlace;  // how many graphs the step launched before this one
  bool whole = false;         // it has all the work of its graph
  size_t begin = 0, end = 0;  // its part of Replays::rows
};

// A graph, as its replays show it.
struct ReplayedGraph {
  ProcessId process{};
  int64_t id = 0;                 // the file's own number; 0: none
  std::optional<uint32_t> place;  // Replay::place, if it is the same in all steps
  std::vector<uint32_t> nodes;    // one row of Trace::gpu for each, in order of time
  std::vector<uint32_t> replays;  // indexes into Replays::all, in order of time
};

struct Replays {
  static constexpr uint32_t kUnplaced = 0xffffffff;

  std::vector<Replay> all;            // sorted by start of the call
  std::vector<uint32_t> rows;         // rows of Trace::gpu, by replay, then in order of time
  std::vector<uint32_t> nodes;        // for each of `rows`: index into ReplayedGraph::nodes
  std::vector<ReplayedGraph> graphs;  // sorted by place, then by first replay
  uint64_t without_work = 0;          // launches without a row in the trace
  uint64_t unknown = 0;  // launches with some of their work that fit no graph, or several
  bool by_id = false;    // the file has ids of nodes

  [[nodiscard]] std::span<const uint32_t> RowsOf(const Replay& replay) const {
    return std::span(rows).subspan(replay.begin, replay.end - replay.begin);
  }
};

// Finds out which launches replay the same graph, and which node each of their kernels, copies and
// memsets is. Counts launches whose call starts in the scope, and their work on its device.
//
// If rows have ids of nodes, launches of one process with the same graph id, or with a common node
// id, are of one graph. A replay is whole if it has all nodes that any of them has.
//
// Without ids of nodes, launches with all their work (Integrity::incomplete_calls lists the others)
// are of one graph if they have the same place in their steps (or the same graph id) and the same
// kernels with the same grids, in any order. The place distinguishes vLLM's piecewise graphs, whose
// kernels are alike. Launches outside of steps belong to the only graph with their kernels. The
// nodes are the kernels of each stream in their order. Where the order varies (parallel branches),
// kernels with the same name and grid are taken in order. A launch that lacks work belongs to the
// only graph into whose order its kernels fit, with gaps. If it is the first launch with work in
// the trace, it has the last nodes of each stream; if it is the last one, the first nodes. In any
// other launch, only kernels that fit a single node have a node.
//
// Cost: O(n); 8 bytes a piece of work. A launch that lacks work is compared with at most 64 graphs.
Replays FindReplays(const PreparedTrace& prepared, const Scope& scope = {});

}  // namespace tacho
