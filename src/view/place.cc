#include "view/place.h"

#include <algorithm>

namespace tacho {
namespace {

const TimelineRow* FindRow(const ReadRanks& ranks, uint32_t rank, uint32_t row) {
  if (rank >= ranks.size() || !ranks[rank] || row >= ranks[rank]->rows().size()) return nullptr;
  return &ranks[rank]->rows()[row];
}

// The distance from `t` to the slice; 0 if the slice covers `t`.
DurationNs DistanceTo(Interval when, TimeNs t) {
  if (t < when.start) return when.start - t;
  return t < PlaceEnd(when) ? DurationNs{} : t - when.end + DurationNs{1};
}

}  // namespace

const Lane* FindLane(const ReadRanks& ranks, SlicePlace at) {
  const TimelineRow* row = FindRow(ranks, at.rank, at.row);
  if (row == nullptr || at.lane >= row->lanes.size()) return nullptr;
  const Lane& lane = row->lanes[at.lane];
  return at.place < lane.size() ? &lane : nullptr;
}

std::optional<PlacedSlice> SliceAt(const ReadRanks& ranks, SlicePlace at) {
  const Lane* lane = FindLane(ranks, at);
  if (lane == nullptr) return std::nullopt;
  const ViewedRank& rank = *ranks[at.rank];
  return PlacedSlice{at, rank.ToRun(lane->When(at.place)), rank.names()[lane->NameId(at.place)]};
}

std::optional<PlacedSlice> FindSlice(const ReadRanks& ranks, uint32_t rank, SliceRef slice) {
  const RankRows& view = ranks[rank]->view();
  const uint32_t row = view.RowOf(slice);
  if (row == RankRows::kNoRow) return std::nullopt;
  const TimeNs start = view.When(slice).start;
  const std::vector<Lane>& lanes = view.rows()[row].lanes;
  for (uint32_t i = 0; i < lanes.size(); ++i) {
    const size_t place = lanes[i].FirstFrom(start);
    if (place < lanes[i].size() && lanes[i][place] == slice) {
      return SliceAt(ranks, {rank, row, i, static_cast<uint32_t>(place)});
    }
  }
  return std::nullopt;
}

std::optional<PlacedSlice> SliceNear(const ReadRanks& ranks, uint32_t rank, uint32_t row, TimeNs t,
                                     std::optional<uint32_t> lane) {
  const TimelineRow* of = FindRow(ranks, rank, row);
  if (of == nullptr) return std::nullopt;
  t = ranks[rank]->ToTrace(t);
  std::optional<SlicePlace> best;
  DurationNs least;
  for (uint32_t i = 0; i < of->lanes.size(); ++i) {
    if (lane && *lane != i) continue;
    const Lane& slices = of->lanes[i];
    const size_t next = slices.FirstFrom(t);
    for (size_t place = next - (next > 0 ? 1 : 0); place <= next && place < slices.size();
         ++place) {
      const DurationNs distance = DistanceTo(slices.When(place), t);
      // Among slices that cover `t`, a later lane wins, because it is deeper; among others, an
      // earlier lane.
      if (best && (distance > least || (distance == least && least.ns > 0))) continue;
      best = SlicePlace{rank, row, i, static_cast<uint32_t>(place)};
      least = distance;
    }
  }
  return best ? SliceAt(ranks, *best) : std::nullopt;
}

}  // namespace tacho
