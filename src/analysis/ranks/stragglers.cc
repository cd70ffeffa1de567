#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "analysis/ranks/ranks.h"

namespace tacho {
namespace {

Straggler::Why WhyOf(const SkewCause& cause) {
  using Kind = SkewCause::Kind;
  if (cause.IsHost()) return Straggler::Why::kHost;
  switch (cause.kind) {
    case Kind::kIdle:
      return cause.idle == IdleCause::kUnknown ? Straggler::Why::kUnknown : Straggler::Why::kIdle;
    case Kind::kCompute:
      return Straggler::Why::kCompute;
    case Kind::kCopies:
      return Straggler::Why::kCopies;
    case Kind::kCollectives:
      return Straggler::Why::kCollectives;
    case Kind::kUnknown:
    case Kind::kPace:
    case Kind::kTooShort:
      break;
  }
  return Straggler::Why::kUnknown;
}

// Sets why the straggler was late: the reason with the largest time in `row`.
void SetWhy(const RankBlame::Row& row, Straggler& straggler) {
  constexpr size_t kWhys = static_cast<size_t>(Straggler::Why::kUnknown) + 1;
  std::array<DurationNs, kWhys> sums;
  for (const SkewCause& cause : row.caused_by) {
    if (cause.kind == SkewCause::Kind::kPace) continue;
    sums[static_cast<size_t>(WhyOf(cause))] += cause.time;
  }
  const auto largest = std::ranges::max_element(sums);
  straggler.why = static_cast<Straggler::Why>(largest - sums.begin());
  straggler.why_share = static_cast<double>(largest->ns) / static_cast<double>(straggler.time.ns);
  straggler.main = *std::ranges::find_if(row.caused_by, [&](const SkewCause& cause) {
    return cause.kind != SkewCause::Kind::kPace && WhyOf(cause) == straggler.why;
  });
}

// The other ranks that share collectives with `rank`.
std::set<size_t> OthersOf(const RankBlame& blame, size_t rank) {
  std::set<size_t> others;
  for (const RankBlame::Group& group : blame.groups) {
    if (std::ranges::binary_search(group.ranks, rank))
      others.insert(group.ranks.begin(), group.ranks.end());
  }
  others.erase(rank);
  return others;
}

std::vector<Straggler> StragglersByBlame(const RankTable& table) {
  constexpr int64_t kLeastPart = 50;  // a straggler causes at least 1/50 (2 %) of the windows
  std::vector<Straggler> stragglers;
  for (const RankBlame::Row& row : table.blame.table) {
    if (!row.stands_out) continue;
    Straggler straggler{.sign = Straggler::Sign::kCausesWaiting, .row = row.rank};
    straggler.time = row.caused_late();
    for (const size_t other : OthersOf(table.blame, row.rank)) {
      straggler.others += table.rows[other].window;
      ++straggler.waiting_ranks;
    }
    if (straggler.time.ns < straggler.others.ns / kLeastPart || straggler.others.ns <= 0) continue;
    SetWhy(row, straggler);
    const auto steps = static_cast<int64_t>(table.rows[row.rank].steps);
    if (steps > 1) straggler.late_a_step = DurationNs{row.late.ns / (steps - 1)};
    stragglers.push_back(straggler);
  }
  std::ranges::stable_sort(stragglers, std::greater(), &Straggler::time);
  return stragglers;
}

}  // namespace

std::vector<Straggler> FindStragglers(const RankTable& table) {
  constexpr double kMost = 0.5;
  if (table.blame.absent == RankBlame::Absent::kNo && table.blame.matched_share >= kMost)
    return StragglersByBlame(table);
  const auto by_sums = StragglerBySums(table);
  return by_sums ? std::vector{*by_sums} : std::vector<Straggler>();
}

}  // namespace tacho
