#include "analysis/ranks/matched_collectives.h"

#include <algorithm>
#include <limits>
#include <map>

namespace tacho {
namespace {

// If the clocks of two ranks are further apart, the ranks are not of one recording.
constexpr DurationNs kMostAhead{600 * kNsPerSecond};

DurationNs Median(std::vector<DurationNs> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The kernels of two ranks in one candidate.
struct Pair {
  Interval one, other;
  bool by_order = false;
};

// Whether a clock difference is doubtful because it may mean that one rank missed a collective.
// This is so for kernels that were matched by their order if the difference exceeds half the time
// between two collectives: then the next collective is nearer.
bool IsAmbiguous(const std::vector<Pair>& pairs, DurationNs ahead) {
  if (std::ranges::none_of(pairs, &Pair::by_order)) return false;
  std::vector<TimeNs> ends;
  for (const Pair& pair : pairs) ends.push_back(pair.one.end);
  std::ranges::sort(ends);
  std::vector<DurationNs> between;
  for (size_t i = 1; i < ends.size(); ++i) between.push_back(ends[i] - ends[i - 1]);
  return std::max(ahead, -ahead).ns > Median(std::move(between)).ns / 2;
}

// How far the clock of Pair::other is ahead of that of Pair::one; nullopt if the pairs do not look
// like common collectives.
std::optional<ClockResidual> Measure(const std::vector<Pair>& pairs) {
  if (pairs.size() < MatchedCollectives::kLeastCollectives) return std::nullopt;
  std::vector<DurationNs> ahead;
  for (const Pair& pair : pairs) ahead.push_back(pair.other.end - pair.one.end);
  ClockResidual residual;
  residual.ahead = Median(ahead);
  residual.collectives = pairs.size();
  for (DurationNs& each : ahead)
    each = std::max(each, residual.ahead) - std::min(each, residual.ahead);
  residual.spread = Median(std::move(ahead));
  if (residual.spread > MatchedCollectives::kMostSpread ||
      std::max(residual.ahead, -residual.ahead) > kMostAhead || IsAmbiguous(pairs, residual.ahead))
    return std::nullopt;
  const auto together = std::ranges::count_if(pairs, [&](const Pair& pair) {
    const Interval one = pair.one, other = pair.other;
    return std::max(one.start, other.start - residual.ahead) <=
           std::min(one.end, other.end - residual.ahead);
  });
  if (2 * static_cast<size_t>(together) < pairs.size()) return std::nullopt;
  return residual;
}

// How far a rank's clock is ahead of the clock of rank `against`.
struct Placed {
  uint32_t against = 0;
  DurationNs ahead;
};

// Relates the clocks of ranks by walking along shared collectives, starting with the first rank.
class Clocks {
 public:
  Clocks(const std::vector<CommCandidate>& candidates, size_t ranks)
      : candidates_(candidates), of_rank_(ranks), placed_(ranks), unplaced_(ranks) {
    for (uint32_t i = 0; i < candidates.size(); ++i) {
      for (const RankKernel& kernel : candidates[i]) {
        std::vector<uint32_t>& of = of_rank_[kernel.rank];
        if (of.empty() || of.back() != i) of.push_back(i);
      }
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      if (!placed_[rank] && !of_rank_[rank].empty()) PlaceAllFrom(rank);
    }
    std::ranges::sort(residuals, {}, &ClockResidual::rank);
  }

  [[nodiscard]] const std::optional<Placed>& operator[](uint32_t rank) const {
    return placed_[rank];
  }
  std::vector<ClockResidual> residuals;

 private:
  void Place(uint32_t rank, const Placed& placed) {
    placed_[rank] = placed;
    --unplaced_;
  }
  void PlaceAllFrom(uint32_t first) {
    Place(first, {first, {}});
    std::vector<uint32_t> next{first};
    for (size_t i = 0; i < next.size(); ++i) PlaceThoseWith(next[i], next);
  }
  // Places the ranks that share enough collectives with `rank`, and adds them to `next`.
  void PlaceThoseWith(uint32_t rank, std::vector<uint32_t>& next) {
    if (unplaced_ == 0) return;
    std::map<uint32_t, std::vector<Pair>> others;
    for (const uint32_t i : of_rank_[rank]) {
      const CommCandidate& candidate = candidates_[i];
      const auto own = std::ranges::find(candidate, rank, &RankKernel::rank);
      const RankKernel* before = nullptr;
      for (const RankKernel& other : candidate) {
        // If a rank has several devices, the first one is enough to say when the collective ended.
        const bool is_first = before == nullptr || before->rank != other.rank;
        before = &other;
        if (is_first && !placed_[other.rank])
          others[other.rank].push_back({own->when, other.when, other.by_order});
      }
    }
    for (const auto& [other, pairs] : others) {
      std::optional<ClockResidual> residual = Measure(pairs);
      if (!residual) continue;
      residual->rank = other;
      residual->against = placed_[rank]->against;
      residual->ahead += placed_[rank]->ahead;
      Place(other, {residual->against, residual->ahead});
      residuals.push_back(*residual);
      next.push_back(other);
    }
  }

  const std::vector<CommCandidate>& candidates_;
  std::vector<std::vector<uint32_t>> of_rank_;  // by rank: indexes of its candidates
  std::vector<std::optional<Placed>> placed_;
  size_t unplaced_;
};

// Makes a collective of a candidate; nullopt if its ranks have no common clock, or if one rank left
// it before another began.
std::optional<Collective> Confirm(const CommCandidate& candidate, const Clocks& clocks) {
  Collective collective;
  collective.parts.reserve(candidate.size());
  TimeNs first_end{std::numeric_limits<int64_t>::max()};
  for (const RankKernel& kernel : candidate) {
    const auto& placed = clocks[kernel.rank];
    if (!placed || placed->against != clocks[candidate.front().rank]->against) return std::nullopt;
    const TimeNs start = kernel.when.start - placed->ahead;
    first_end = std::min(first_end, kernel.when.end - placed->ahead);
    collective.parts.push_back({kernel.rank, kernel.row, start, kernel.when.length()});
    if (start > collective.parts[collective.last].start)
      collective.last = collective.parts.size() - 1;
  }
  if (collective.parts[collective.last].start > first_end) return std::nullopt;
  return collective;
}

}  // namespace

std::pair<const Collective*, const Collective::Part*> MatchedCollectives::Find(uint32_t rank,
                                                                               uint32_t row) const {
  const auto at = std::ranges::lower_bound(places_, std::pair(rank, row), {}, [](const Place& of) {
    return std::pair(of.rank, of.row);
  });
  if (at == places_.end() || at->rank != rank || at->row != row) return {};
  const Collective& collective = collectives[at->collective];
  return {&collective, &collective.parts[at->part]};
}

MatchedCollectives MatchCollectives(const std::vector<CommRank>& ranks) {
  MatchedCollectives matched;
  for (const CommRank& rank : ranks) {
    if (!rank.series) continue;
    for (const CommSeries& series : *rank.series) matched.kernels += series.kernels.size();
  }
  std::vector<CommCandidate> candidates = FindCommCandidates(ranks);
  matched.candidates = candidates.size();
  Clocks clocks(candidates, ranks.size());
  for (CommCandidate& candidate : candidates) {
    auto collective = Confirm(candidate, clocks);
    CommCandidate().swap(candidate);  // of thousands of ranks they take much
    if (!collective) continue;
    const auto number = static_cast<uint32_t>(matched.collectives.size());
    for (uint32_t part = 0; part < collective->parts.size(); ++part)
      matched.places_.push_back(
          {collective->parts[part].rank, collective->parts[part].row, number, part});
    matched.collectives.push_back(std::move(*collective));
  }
  std::ranges::sort(matched.places_, {}, [](const auto& of) { return std::pair(of.rank, of.row); });
  matched.unmatched = matched.kernels - matched.places_.size();
  matched.residuals = std::move(clocks.residuals);
  return matched;
}

}  // namespace tacho
