#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/index/host_tree.h"

namespace tacho {

// A stretch of time on a host thread's track.
struct HostStretch {
  TrackId track;
  Interval when;
};

// The tree of those host slices that overlap one of `stretches`. The slices nest as in the tree of
// all slices: leaving out some slices does not change the parents of the others, because a slice
// that has ended never closes one that is still open. Cost: O(k log n) for k slices.
HostTree SlicesAround(const TrackIndex& index, const std::vector<HostStretch>& stretches);

// The slice of `tree` that covers most of `stretch`, where each instant counts for the innermost
// slice only; nullptr when more of the stretch is outside of all slices than in any of them.
const HostTree::Node* MainSlice(const HostTree& tree, const HostStretch& stretch);

// Whether a Python frame of this name is of user code: "vllm/_custom_ops.py(334): rms_norm".
// Built-ins, modules, PyTorch's hooks, and frames of torch, Triton or Python's startup are not.
bool IsUserCode(std::string_view frame);

// For each stretch, the row of the Python frame that its thread was in: the innermost frame of user
// code that covers more than half of the stretch. Cost: O(k log n) for k frames that are open in
// the middle of a stretch.
std::vector<std::optional<uint32_t>> MainFrames(const TrackIndex& index,
                                                const std::vector<HostStretch>& stretches);

}  // namespace tacho
