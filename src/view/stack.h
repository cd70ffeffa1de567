#pragma once

#include <cstdint>
#include <vector>

#include "model/track_index.h"
#include "view/lane.h"

namespace tacho {

// Distributes slices, which must come in order of start, over lanes, so that no slice overlaps
// another. Each goes to the first free lane below the lane of the slice around it. No slice is left
// out, however many overlap. Cost: O(log l) a slice for l lanes.
class Stack {
 public:
  static constexpr uint32_t kNoParent = 0xffffffff;

  // The lane that the slice goes to. `parent`: the lane of the slice around it, or kNoParent.
  uint32_t Place(SliceRef slice, Interval when, uint32_t parent = kNoParent);
  // Returns the lanes from the top and leaves an empty stack.
  std::vector<Lane> Take(std::span<const DrawnTable> tables);

 private:
  // The first lane from `from` on that is free at `t`; ends_.size() / 2 if all are taken.
  [[nodiscard]] size_t FirstFree(size_t from, TimeNs t) const;
  void Occupy(size_t lane, TimeNs until);
  void Grow();

  // A tree over the lanes' ends: lane i is ends_[room + i], and ends_[n] the least of ends_[2n] and
  // ends_[2n + 1], where room is half of its size. Lanes not yet used are free from the beginning.
  std::vector<TimeNs> ends_;
  std::vector<std::vector<SliceRef>> lanes_;
};

// The tables that host threads and GPU streams draw from, as tables of a SliceRef.
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

// StackStream: the lanes of one stream's work. StackHostTracks: the lanes of all host tracks, by
// track, also for tracks without slices. A host slice, also a Python frame, lies below the slice
// around it (model/nesting.h).
std::vector<Lane> StackStream(const TrackIndex& index, StreamId stream,
                              std::span<const DrawnTable> tables);
std::vector<std::vector<Lane>> StackHostTracks(const TrackIndex& index,
                                               std::span<const DrawnTable> tables);

}  // namespace tacho
