#include "analysis/compare/collective_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/share.h"

namespace tacho {
namespace {

constexpr double kLeastMatched = 0.5, kMostUnlike = 0.01, kNearlyAllOfIt = 0.8, kHalfOfIt = 0.5;

// Sums over the runs of one side.
struct SideCollectives {
  struct Rank {
    double caused = 0, late = 0, steps = 0;
    SkewCause main;
    double main_share = 0;
  };
  double transfer = 0, waits = 0, steps = 0;   // `steps`: the steps of all ranks, added up
  double least_matched = 1, most_matched = 0;  // range of RankBlame::matched_share over the runs
  std::map<std::string, Rank> ranks;
};

void AddRow(const RankTable& table, const RankBlame::Row& row, SideCollectives& side) {
  const RankRow& rank = table.rows[row.rank];
  const auto steps = static_cast<double>(rank.steps);
  side.steps += steps;
  SideCollectives::Rank& into = side.ranks[rank.identity.RankName()];
  into.caused += static_cast<double>(row.caused_late().ns);
  const auto main = std::ranges::find_if(
      row.caused_by, [](const SkewCause& cause) { return cause.kind != SkewCause::Kind::kPace; });
  if (main != row.caused_by.end()) {
    into.main = *main;
    into.main_share = ShareOf(into.main.time, row.caused_late());
  }
  // Lateness is not known in the first step, because the ranks had shared no collective before.
  if (steps <= 1) return;
  into.late += static_cast<double>(row.late.ns);
  into.steps += steps - 1;
}

std::optional<SideCollectives> SumUp(const std::vector<RunAnalysis>& runs,
                                     std::set<std::string>& stragglers) {
  SideCollectives side;
  for (const RunAnalysis& run : runs) {
    const RankBlame& blame = run.ranks.blame;
    if (blame.absent != RankBlame::Absent::kNo || blame.matched_share < kLeastMatched)
      return std::nullopt;
    side.least_matched = std::min(side.least_matched, blame.matched_share);
    side.most_matched = std::max(side.most_matched, blame.matched_share);
    side.transfer += static_cast<double>(blame.transfer.ns);
    side.waits += static_cast<double>(blame.waits.ns);
    for (const RankBlame::Row& row : blame.table) AddRow(run.ranks, row, side);
    for (const Straggler& found : FindStragglers(run.ranks))
      stragglers.insert(run.ranks.rows[found.row].identity.RankName());
  }
  return side.steps > 0 ? std::optional(std::move(side)) : std::nullopt;
}

CollectiveChange::OfRank ChangeOfRank(const std::string& name, const SideCollectives& base,
                                      const SideCollectives& now) {
  CollectiveChange::OfRank of;
  of.name = name;
  double most = -1;
  for (const bool is_base : {true, false}) {
    const SideCollectives& side = is_base ? base : now;
    const auto found = side.ranks.find(name);
    if (found == side.ranks.end()) continue;
    const SideCollectives::Rank& rank = found->second;
    const double caused = rank.caused / side.steps;
    (is_base ? of.caused.base : of.caused.now) = caused;
    (is_base ? of.late.base : of.late.now) = rank.steps > 0 ? rank.late / rank.steps : 0;
    if (caused <= most) continue;
    most = caused;
    of.main = rank.main;
    of.is_main = rank.main_share >= kNearlyAllOfIt;
  }
  return of;
}

double LeastMatched(const std::vector<RunAnalysis>& runs) {
  double least = 1;
  for (const RunAnalysis& run : runs) {
    const RankBlame::Absent absent = run.ranks.blame.absent;
    if (absent == RankBlame::Absent::kNo || absent == RankBlame::Absent::kNoMatch)
      least = std::min(least, run.ranks.blame.matched_share);
  }
  return least;
}

}  // namespace

std::string WhyNoCollectives(const std::vector<RunAnalysis>& base,
                             const std::vector<RunAnalysis>& now) {
  const double of_base = LeastMatched(base), of_now = LeastMatched(now);
  if (std::abs(of_base - of_now) <= kMostUnlike) return "";
  return fmt::format("only {:.0f} % of {}'s communication kernels match one of another rank",
                     100 * std::min(of_base, of_now), of_base < of_now ? "base" : "new");
}

const CollectiveChange::OfRank* CollectiveChange::Explains() const {
  if (ranks.empty()) return nullptr;
  const double all = time.difference(), part = ranks.front().caused.difference();
  return (all < 0) == (part < 0) && std::abs(part) >= kHalfOfIt * std::abs(all) && part != 0
             ? &ranks.front()
             : nullptr;
}

std::optional<CollectiveChange> CompareCollectives(const std::vector<RunAnalysis>& base,
                                                   const std::vector<RunAnalysis>& now) {
  std::set<std::string> stragglers;
  const auto of_base = SumUp(base, stragglers), of_now = SumUp(now, stragglers);
  if (!of_base || !of_now) return std::nullopt;
  // Kernels without a match are not in the figures, so their share must be the same on both sides.
  if (std::max(of_base->most_matched, of_now->most_matched) -
          std::min(of_base->least_matched, of_now->least_matched) >
      kMostUnlike)
    return std::nullopt;
  CollectiveChange change;
  change.transfer = {of_base->transfer / of_base->steps, of_now->transfer / of_now->steps, {}};
  change.waits = {of_base->waits / of_base->steps, of_now->waits / of_now->steps, {}};
  change.time = {
      change.transfer.base + change.waits.base, change.transfer.now + change.waits.now, {}};
  for (const std::string& name : stragglers) {
    if (!name.empty()) change.ranks.push_back(ChangeOfRank(name, *of_base, *of_now));
  }
  std::ranges::stable_sort(change.ranks, std::greater{}, [](const CollectiveChange::OfRank& of) {
    return std::abs(of.caused.difference());
  });
  return change;
}

}  // namespace tacho
