#include "export/exported_rank.h"

#include <algorithm>

namespace tacho {
namespace {

bool IsCut(SliceRef slice) {
  const auto from = static_cast<DrawnFrom>(slice.table());
  return from == DrawnFrom::kPythonFrames || from == DrawnFrom::kOthers;
}

bool IsOfTrace(SliceRef slice) {
  const auto from = static_cast<DrawnFrom>(slice.table());
  return from != DrawnFrom::kComputed && from != DrawnFrom::kMarks;
}

}  // namespace

PartCut::PartCut(const ExportedRank& exported) {
  if (exported.window == kAllTime) return;
  reach_ = exported.window;
  for (const TimelineRow& row : exported.rank->rows()) {
    for (const Lane& lane : row.lanes) {
      const Lane::Places places = lane.In(exported.window);
      for (size_t place = places.first; place < places.last; ++place) {
        if (IsCut(lane[place]) || !IsOfTrace(lane[place])) continue;
        const Interval when = lane.When(place);
        reach_ = {std::min(reach_.start, when.start), std::max(reach_.end, when.end)};
      }
    }
  }
}

Interval PartCut::Of(SliceRef slice, Interval when) const {
  return IsCut(slice) && !when.empty() ? when.Clip(reach_) : when;
}

size_t SlicesIn(const ViewedRank& rank, Interval window) {
  size_t slices = 0;
  for (const TimelineRow& row : rank.rows()) {
    for (const Lane& lane : row.lanes) {
      const Lane::Places places = lane.In(window);
      slices += places.last - places.first;
    }
  }
  return slices;
}

}  // namespace tacho
