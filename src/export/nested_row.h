#pragma once

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "view/rank_rows.h"

namespace tacho {

// A slice in a row of the timeline.
struct RowSlice {
  Interval when;
  uint32_t lane = 0;
  size_t place = 0;
};

// Calls visit(RowSlice) for each slice of a row that overlaps the window, sorted by start, then by
// end (latest first), then by lane. Memory: some bytes a lane.
template <typename Visit>
void ForEachSliceOf(const TimelineRow& row, Interval window, Visit visit) {
  const auto comes_after = [](const RowSlice& a, const RowSlice& b) {
    if (a.when.start != b.when.start) return a.when.start > b.when.start;
    if (a.when.end != b.when.end) return a.when.end < b.when.end;
    return a.lane > b.lane;
  };
  std::priority_queue<RowSlice, std::vector<RowSlice>, decltype(comes_after)> next(comes_after);
  std::vector<size_t> last;  // by lane: the index after its last slice in the window
  for (uint32_t lane = 0; lane < row.lanes.size(); ++lane) {
    const Lane::Places places = row.lanes[lane].In(window);
    last.push_back(places.last);
    if (places.first < places.last)
      next.push({row.lanes[lane].When(places.first), lane, places.first});
  }
  while (!next.empty()) {
    RowSlice slice = next.top();
    next.pop();
    visit(std::as_const(slice));
    if (++slice.place == last[slice.lane]) continue;
    slice.when = row.lanes[slice.lane].When(slice.place);
    next.push(slice);
  }
}

// Distributes the slices of a row over tracks, so that begins and ends nest on each track. Slices
// must be added in the order of ForEachSliceOf. Each goes to the first track whose innermost open
// slice does not end before it; if all slices nest, there is one track. Calls begin(track, slice)
// and end(track, slice), for each track in the order of time. Memory: the open slices.
template <typename Begin, typename End>
class NestedTracks {
 public:
  NestedTracks(Begin begin, End end) : begin_(std::move(begin)), end_(std::move(end)) {}

  void Add(const RowSlice& slice) {
    for (size_t track = 0;; ++track) {
      if (track == open_.size()) open_.emplace_back();
      std::vector<RowSlice>& open = open_[track];
      Close(track, slice.when.start);
      if (!open.empty() && open.back().when.end < slice.when.end) continue;
      begin_(track, slice);
      open.push_back(slice);
      return;
    }
  }
  // Ends those slices of `track` that end by `until`. Also call it before writing an instant to the
  // track.
  void Close(size_t track, TimeNs until) {
    if (track >= open_.size()) return;
    for (std::vector<RowSlice>& open = open_[track]; !open.empty(); open.pop_back()) {
      if (open.back().when.end > until) return;
      end_(track, open.back());
    }
  }
  void CloseAll() {
    for (size_t track = 0; track < open_.size(); ++track) {
      for (std::vector<RowSlice>& open = open_[track]; !open.empty(); open.pop_back())
        end_(track, open.back());
    }
  }

 private:
  Begin begin_;
  End end_;
  std::vector<std::vector<RowSlice>> open_;  // indexed by track
};

}  // namespace tacho
