#pragma once

#include <vector>

#include "model/nesting.h"

namespace tacho {

// Host slices as a tree. Each instant of a thread belongs to the innermost slice.
struct HostTree {
  struct Node {
    Interval when;
    StringId name;
    TrackId track;
    SliceKind kind;
    uint32_t row = 0;
    int32_t parent = -1;  // index into nodes
  };
  std::vector<Node> nodes;            // sorted by track, then (start, -end)
  std::vector<uint32_t> track_begin;  // by TrackId: its first node; one more entry at the end
};

// Nests the rows of `tables` by the rule of WalkHostSlices (model/nesting.h). Cost: O(n); 40 bytes
// a row.
HostTree NestHostSlices(const std::vector<HostRows>& tables);

}  // namespace tacho
