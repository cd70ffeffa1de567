#pragma once

#include <cstdint>
#include <vector>

#include "model/track_index.h"
#include "view/lane.h"

namespace tacho {

// Distributes slices over lanes so that no two slices of a lane overlap. Slices must come in the
// order of their starts. Each goes to the first free lane below the lane of the slice around it. No
// slice is left out, however many overlap. Cost: O(log l) a slice for l lanes.
class Stack {
 public:
  static constexpr uint32_t kNoParent = 0xffffffff;

  // Puts the slice into a lane and returns the lane's index. `parent`: the lane of the slice around
  // it, or kNoParent.
  uint32_t Place(SliceRef slice, Interval when, uint32_t parent = kNoParent);
  // Returns the lanes from the top and leaves an empty stack.
  std::vector<Lane> Take(std::span<const DrawnTable> tables);

 private:
  // The first lane from `from` on that is free at `t`; ends_.size() / 2 if all of them are taken.
  [[nodiscard]] size_t FirstFree(size_t from, TimeNs t) const;
  void Occupy(size_t lane, TimeNs until);
  void Grow();

  // A tree of the times at which lanes become free. With `room` = half of its size, lane i is
  // ends_[room + i], and ends_[n] is the smaller of ends_[2n] and ends_[2n + 1]. Lanes not yet used
  // are free at any time.
  std::vector<TimeNs> ends_;
  std::vector<std::vector<SliceRef>> lanes_;
};

// The tables that lanes draw from: the values of SliceRef::table().
enum class DrawnFrom : uint32_t {
  kGpu,
  kGpuAnnotations,
  kPythonFrames,
  kAnnotations,
  kHostOps,
  kHostCalls,
  kOthers,
  kComputed,
  kMarks,  // ranges, then instants
};

// StackStream returns the lanes of one stream's work. StackHostTracks returns, by track, the lanes
// of all host tracks; a track without slices has none. A host slice or Python frame lies below the
// slice around it (model/nesting.h).
std::vector<Lane> StackStream(const TrackIndex& index, StreamId stream,
                              std::span<const DrawnTable> tables);
std::vector<std::vector<Lane>> StackHostTracks(const TrackIndex& index,
                                               std::span<const DrawnTable> tables);

}  // namespace tacho
