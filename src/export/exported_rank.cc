#include "export/exported_rank.h"

namespace tacho {

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
