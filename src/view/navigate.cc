#include "view/navigate.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tacho {
namespace {

// All lanes of a rank, row by row.
struct LanesOfRank {
  std::vector<const Lane*> lanes;
  std::vector<std::pair<uint32_t, uint32_t>> places;  // (row, lane)

  explicit LanesOfRank(const ViewedRank& rank) {
    for (uint32_t row = 0; row < rank.rows().size(); ++row) {
      const auto& of_row = rank.rows()[row].lanes;
      for (uint32_t lane = 0; lane < of_row.size(); ++lane) {
        lanes.push_back(&of_row[lane]);
        places.emplace_back(row, lane);
      }
    }
  }
  [[nodiscard]] SlicePlace At(uint32_t rank, size_t lane, size_t place) const {
    return {rank, places[lane].first, places[lane].second, static_cast<uint32_t>(place)};
  }
};

template <typename Visit>
void ForEachRank(const ReadRanks& ranks, std::optional<uint32_t> only, Visit visit) {
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] && (!only || *only == i)) visit(i, *ranks[i]);
  }
}

// Whether `a` comes before `b` in the search direction. False for equal times.
bool IsNearer(TimeNs a, TimeNs b, bool forward) { return forward ? a < b : b < a; }

// Sets `best` to `found` if that is nearer.
void TakeNearer(const std::optional<PlacedSlice>& found, bool forward,
                std::optional<PlacedSlice>& best) {
  if (found && (!best || IsNearer(found->when.start, best->when.start, forward))) best = found;
}

// The first slice of a lane that starts after `t`, or, if not `forward`, the last one that starts
// before it.
std::optional<size_t> NextInLane(const Lane& lane, TimeNs t, bool forward) {
  const size_t next = lane.FirstFrom(forward ? TimeNs{AddSaturated(t.ns, 1)} : t);
  if (forward) return next < lane.size() ? std::optional(next) : std::nullopt;
  return next > 0 ? std::optional(next - 1) : std::nullopt;
}

}  // namespace

std::optional<PlacedSlice> NextSlice(const ReadRanks& ranks, uint32_t rank, uint32_t row,
                                     TimeNs from, bool forward, std::optional<uint32_t> lane) {
  std::optional<PlacedSlice> best;
  if (rank >= ranks.size() || !ranks[rank] || row >= ranks[rank]->rows().size()) return best;
  const std::vector<Lane>& lanes = ranks[rank]->rows()[row].lanes;
  for (uint32_t i = 0; i < lanes.size(); ++i) {
    if (lane && *lane != i) continue;
    const auto place = NextInLane(lanes[i], ranks[rank]->ToTrace(from), forward);
    if (!place) continue;
    TakeNearer(SliceAt(ranks, {rank, row, i, static_cast<uint32_t>(*place)}), forward, best);
  }
  return best;
}

std::optional<PlacedSlice> NextStep(const ReadRanks& ranks, TimeNs from, bool forward,
                                    std::optional<uint32_t> rank) {
  std::optional<PlacedSlice> best;
  ForEachRank(ranks, rank, [&](uint32_t i, const ViewedRank& of) {
    const uint32_t row = of.view().RowOf(RowKind::kSteps, "");
    TakeNearer(NextSlice(ranks, i, row, from, forward), forward, best);
  });
  return best;
}

std::optional<PlacedSlice> StepByNumber(const ReadRanks& ranks, size_t number,
                                        std::optional<uint32_t> rank) {
  std::optional<PlacedSlice> step;
  ForEachRank(ranks, rank, [&](uint32_t i, const ViewedRank& of) {
    if (step || number == 0 || number > of.view().steps().size()) return;
    step = FindSlice(
        ranks, i, {static_cast<uint32_t>(DrawnFrom::kComputed), static_cast<uint32_t>(number - 1)});
  });
  return step;
}

std::vector<RunGap> LongestRunGaps(const ReadRanks& ranks, std::optional<uint32_t> rank) {
  std::vector<RunGap> gaps;
  ForEachRank(ranks, rank, [&](uint32_t i, const ViewedRank& of) {
    for (const IdleGap& gap : of.view().gaps()) gaps.push_back({i, of.ToRun(gap.when), &gap});
  });
  std::ranges::stable_sort(gaps, [](const RunGap& a, const RunGap& b) {
    return a.when.length() != b.when.length() ? a.when.length() > b.when.length()
                                              : a.when.start < b.when.start;
  });
  gaps.resize(std::min(gaps.size(), RankRows::kMostGaps));
  return gaps;
}

std::optional<RunGap> NextGap(const ReadRanks& ranks, TimeNs from, bool forward,
                              std::optional<uint32_t> rank) {
  std::optional<RunGap> best;
  for (const RunGap& gap : LongestRunGaps(ranks, rank)) {
    if (!IsNearer(from, gap.when.start, forward)) continue;
    if (!best || IsNearer(gap.when.start, best->when.start, forward)) best = gap;
  }
  return best;
}

PlacedSlice PlaceOfGap(const ReadRanks& ranks, const RunGap& gap) {
  const uint32_t row = ranks[gap.rank]->view().RowOf(RowKind::kIdle, gap.gap->device);
  PlacedSlice place =
      SliceNear(ranks, gap.rank, row, gap.when.start).value_or(PlacedSlice{{gap.rank}, {}});
  place.when = gap.when;
  return place;
}

RunSearch SearchRun(const ReadRanks& ranks, std::string_view text, size_t most,
                    std::optional<uint32_t> rank) {
  RunSearch found;
  std::map<std::string_view, RunHits> by_name;
  ForEachRank(ranks, rank, [&](uint32_t i, const ViewedRank& of) {
    const LanesOfRank all(of);
    uint64_t total = 0;
    for (const NameHits& hits : Search(all.lanes, text, SIZE_MAX, total)) {
      const PlacedSlice first = *SliceAt(ranks, all.At(i, hits.lane, hits.place));
      RunHits& name = by_name[hits.name];
      if (name.count == 0 || first.when.start < name.first.when.start) name.first = first;
      name.name = hits.name;
      name.count += hits.count;
    }
    found.total += total;
  });
  for (const auto& [name, hits] : by_name) found.names.push_back(hits);
  std::ranges::stable_sort(found.names, std::greater(), &RunHits::count);
  found.names.resize(std::min(found.names.size(), most));
  return found;
}

std::optional<PlacedSlice> NextHit(const ReadRanks& ranks, std::string_view text, TimeNs from,
                                   bool forward, std::optional<uint32_t> rank,
                                   std::optional<SlicePlace> after) {
  std::optional<PlacedSlice> best;
  ForEachRank(ranks, rank, [&](uint32_t i, const ViewedRank& of) {
    const LanesOfRank all(of);
    const size_t lanes = all.lanes.size();
    // Hits with the same start are ordered by rank and then by lane.
    size_t lane = forward ? lanes : 0;
    if (after && i == after->rank) {
      const auto at = std::ranges::find(all.places, std::pair(after->row, after->lane));
      lane = static_cast<size_t>(at - all.places.begin());
    }
    TimeNs t = of.ToTrace(from);
    const bool with_equal = after && (forward ? i > after->rank : i < after->rank);
    if (with_equal) t = {AddSaturated(t.ns, forward ? -1 : 1)};
    const auto found = FindNext(all.lanes, text, {t, lane}, forward);
    if (!found) return;
    const auto placed = SliceAt(ranks, all.At(i, found->lane, found->place));
    // Backward, the last one of hits with the same start comes first.
    if (!forward && best && placed->when.start == best->when.start) {
      best = placed;
    } else {
      TakeNearer(placed, forward, best);
    }
  });
  return best;
}

}  // namespace tacho
