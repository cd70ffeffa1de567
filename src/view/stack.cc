#include "view/stack.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/nesting.h"

namespace tacho {
namespace {

constexpr TimeNs kFree{std::numeric_limits<int64_t>::min()};

SliceRef RefOf(DrawnFrom table, uint32_t row) { return {static_cast<uint32_t>(table), row}; }

DrawnFrom TableOf(SliceKind kind) {
  switch (kind) {
    case SliceKind::kPythonFrame:
      return DrawnFrom::kPythonFrames;
    case SliceKind::kAnnotation:
      return DrawnFrom::kAnnotations;
    case SliceKind::kHostOp:
      return DrawnFrom::kHostOps;
    default:
      return DrawnFrom::kHostCalls;
  }
}

}  // namespace

size_t Stack::FirstFree(size_t from, TimeNs t) const {
  const size_t room = ends_.size() / 2;
  if (from >= room) return room;
  // Walks up from the leaf until a subtree to its right has a free lane, then down to the first
  // free lane in that subtree.
  size_t node = room + from;
  while (ends_[node] > t) {
    while (node % 2 == 1) node /= 2;
    if (node == 0) return room;  // it was the last leaf
    ++node;
  }
  while (node < room) node = ends_[2 * node] <= t ? 2 * node : 2 * node + 1;
  return node - room;
}

void Stack::Occupy(size_t lane, TimeNs until) {
  size_t node = ends_.size() / 2 + lane;
  ends_[node] = until;
  while (node /= 2) {
    const TimeNs least = std::min(ends_[2 * node], ends_[2 * node + 1]);
    if (ends_[node] == least) return;
    ends_[node] = least;
  }
}

void Stack::Grow() {
  const size_t room = ends_.size() / 2;
  const std::vector<TimeNs> before =
      std::exchange(ends_, std::vector<TimeNs>(std::max<size_t>(2 * ends_.size(), 16), kFree));
  for (size_t lane = 0; lane < room; ++lane) Occupy(lane, before[room + lane]);
}

uint32_t Stack::Place(SliceRef slice, Interval when, uint32_t parent) {
  const size_t from = parent == kNoParent ? 0 : parent + 1;
  size_t lane = FirstFree(from, when.start);
  while (lane == ends_.size() / 2) {
    Grow();
    lane = FirstFree(from, when.start);
  }
  Occupy(lane, PlaceEnd(when));
  if (lane >= lanes_.size()) lanes_.resize(lane + 1);
  lanes_[lane].push_back(slice);
  return static_cast<uint32_t>(lane);
}

std::vector<Lane> Stack::Take(std::span<const DrawnTable> tables) {
  std::vector<Lane> lanes;
  for (std::vector<SliceRef>& slices : lanes_) {
    lanes.emplace_back(tables, slices);
    slices = {};  // frees the memory early, because the lane needs as much
  }
  lanes_.clear();
  ends_.clear();
  return lanes;
}

std::vector<Lane> StackStream(const TrackIndex& index, StreamId stream,
                              std::span<const DrawnTable> tables) {
  Stack stack;
  const RowList rows = index.gpu().Of(Index(stream));
  for (size_t i = 0; i < rows.size(); ++i) {
    stack.Place(RefOf(DrawnFrom::kGpu, rows[i]), index.gpu().table().When(rows[i]));
  }
  return stack.Take(tables);
}

std::vector<std::vector<Lane>> StackHostTracks(const TrackIndex& index,
                                               std::span<const DrawnTable> tables) {
  std::vector<std::vector<Lane>> tracks(index.host_ops().lanes());
  Stack stack;
  TrackId current{};
  WalkHostSlices(AllHostRows(index, true), Stack::kNoParent,
                 [&](const HostSlice& slice, uint32_t parent) {
                   if (slice.track != current) {
                     tracks[Index(current)] = stack.Take(tables);
                     current = slice.track;
                   }
                   return stack.Place(RefOf(TableOf(slice.kind), slice.row), slice.when, parent);
                 });
  if (!tracks.empty()) tracks[Index(current)] = stack.Take(tables);
  return tracks;
}

}  // namespace tacho
