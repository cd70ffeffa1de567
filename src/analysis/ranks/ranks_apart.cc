#include "analysis/ranks/ranks_apart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace tacho {
namespace {

using Figure = RanksApart::Figure;

constexpr std::array<Figure, 4> kShares = {Figure::kBusy, Figure::kCompute, Figure::kExposedComm,
                                           Figure::kIdle};

double ShareIn(const RankRow& row, Figure figure) {
  const DurationNs part = figure == Figure::kBusy          ? row.busy
                          : figure == Figure::kCompute     ? row.compute
                          : figure == Figure::kExposedComm ? row.exposed_comm
                                                           : row.idle;
  return static_cast<double>(part.ns) / static_cast<double>(row.window.ns);
}

double MiddleOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The median of a share, and how far from it a rank must be to count as apart.
struct Usual {
  double median = 0, far = 0;
};
Usual UsualOf(const std::vector<const RankRow*>& rows, Figure figure) {
  constexpr double kLeast = 0.02, kTimes = 6;
  std::vector<double> shares;
  for (const RankRow* row : rows) shares.push_back(ShareIn(*row, figure));
  Usual usual;
  usual.median = MiddleOf(shares);
  for (double& share : shares) share = std::abs(share - usual.median);
  usual.far = std::max(kLeast, kTimes * MiddleOf(std::move(shares)));
  return usual;
}

bool IsCompared(const RankRow& row) { return row.window.ns > 0 && row.whole && row.complete; }

class ApartFinder {
 public:
  explicit ApartFinder(const RankTable& table) : table_(table) {
    std::map<size_t, std::vector<const RankRow*>> recordings;
    for (const RankRow& row : table.rows) {
      if (IsCompared(row)) recordings[row.recording].push_back(&row);
    }
    for (const auto& [recording, rows] : recordings) {
      for (size_t i = 0; i < kShares.size(); ++i) usual_[recording][i] = UsualOf(rows, kShares[i]);
    }
    for (const Straggler& straggler : FindStragglers(table)) {
      if (straggler.sign != Straggler::Sign::kCausesWaiting) continue;
      waited_for_[straggler.row] =
          static_cast<double>(straggler.time.ns) / static_cast<double>(straggler.others.ns);
    }
  }

  [[nodiscard]] std::optional<RanksApart::Apart> Of(size_t i) const {
    const RankRow& row = table_.rows[i];
    if (const auto waited = waited_for_.find(i); waited != waited_for_.end())
      return RanksApart::Apart{i, Figure::kWaitedFor, waited->second, 0};
    if (row.window.ns <= 0) return RanksApart::Apart{i, Figure::kNoWork};
    if (!IsCompared(row)) return RanksApart::Apart{i, Figure::kLost};
    std::optional<RanksApart::Apart> farthest;
    for (size_t k = 0; k < kShares.size(); ++k) {
      const Usual& usual = usual_.at(row.recording)[k];
      const double own = ShareIn(row, kShares[k]);
      const double distance = std::abs(own - usual.median);
      if (distance < usual.far) continue;
      if (!farthest || distance > std::abs(farthest->own - farthest->others))
        farthest = RanksApart::Apart{i, kShares[k], own, usual.median};
    }
    return farthest;
  }

 private:
  const RankTable& table_;
  std::map<size_t, std::array<Usual, kShares.size()>> usual_;  // by recording
  std::map<size_t, double> waited_for_;                        // by row
};

}  // namespace

RanksApart FindRanksApart(const RankTable& table) {
  RanksApart result;
  const ApartFinder finder(table);
  // Keyed by the length of the worker's name and the name, so that "w2" comes before "w10".
  std::map<std::pair<size_t, std::string>, RanksApart::Rest> rest;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const RankRow& row = table.rows[i];
    if (const auto apart = finder.Of(i)) {
      result.apart.push_back(*apart);
      continue;
    }
    const double busy = ShareIn(row, Figure::kBusy);
    const std::string& worker = row.identity.worker;
    const auto [at, is_new] = rest.try_emplace({worker.size(), worker});
    RanksApart::Rest& of = at->second;
    of.worker = worker;
    of.least_busy = is_new ? busy : std::min(of.least_busy, busy);
    of.most_busy = is_new ? busy : std::max(of.most_busy, busy);
    ++of.ranks;
  }
  for (auto& [key, of] : rest) result.rest.push_back(std::move(of));
  std::ranges::stable_sort(result.apart, {}, [](const RanksApart::Apart& apart) {
    return std::tuple(std::min(apart.figure, Figure::kBusy), -std::abs(apart.own - apart.others));
  });
  return result;
}

}  // namespace tacho
