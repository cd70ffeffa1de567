#pragma once

#include <vector>

#include "model/nesting.h"

namespace tacho {

// Host slices in the order of their tree: what each thread did, each instant once.
struct HostTree {
  struct Node {
    Interval when;
    StringId name;
    TrackId track;
    SliceKind kind;
    uint32_t row = 0;
    int32_t parent = -1;  // index into nodes
  };
  std::vector<Node> nodes;            // by track, then (start, -end)
  std::vector<uint32_t> track_begin;  // by TrackId: first node; one more entry at the end
};

// The tree of `tables` by the rule of WalkHostSlices (model/nesting.h). Cost: O(n); 40 bytes a row.
HostTree NestHostSlices(const std::vector<HostRows>& tables);

}  // namespace tacho
