#include "serve/start_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/steps/step_times.h"
#include "serve/parameters.h"
#include "text/format_number.h"
#include "view/navigate.h"

namespace tacho {
namespace {

constexpr DurationNs kAroundTime{500'000};

// Why there is no gap or step with this number. `kinds`: the plural of `kind`.
std::string Lacks(std::string_view kind, size_t number, size_t count, std::string_view kinds) {
  if (count == 0) return fmt::format("{} {}: the traces have no {}", kind, number, kinds);
  return fmt::format(
      "{} {}: there {} {}; the page begins at the last", kind, number, count == 1 ? "is" : "are",
      count == 1 ? fmt::format("1 {}", kind) : FormatCount(count) + " " + std::string(kinds));
}

void Begin(const std::optional<PlacedSlice>& slice, StartPlace& start) {
  if (!slice) return;
  start.when = slice->when;
  start.at = slice->at;
}

StartPlace FindGap(size_t number, const ReadRanks& ranks) {
  const std::vector<RunGap> gaps = LongestRunGaps(ranks);
  StartPlace start;
  const auto untold = std::ranges::find_if(
      ranks, [](const auto& rank) { return rank && !rank->view().untold().idle_time.empty(); });
  if (gaps.empty() && untold != ranks.end()) {
    start.lacks = fmt::format("gap {}: idle time cannot be told: {}", number,
                              (*untold)->view().untold().idle_time);
  } else if (number > gaps.size()) {
    const bool all = gaps.size() < RankRows::kMostGaps;
    start.lacks =
        Lacks("gap", number, gaps.size(), all ? "gaps" : "gaps in the list of the longest");
  }
  if (!gaps.empty()) Begin(PlaceOfGap(ranks, gaps[std::min(number, gaps.size()) - 1]), start);
  return start;
}

StartPlace FindStep(size_t number, const ReadRanks& ranks) {
  size_t most = 0;
  for (const auto& rank : ranks) most = std::max(most, rank ? rank->view().steps().size() : 0);
  StartPlace start;
  if (number > most) start.lacks = Lacks("step", number, most, "steps");
  Begin(StepByNumber(ranks, std::min(number, most)), start);
  if (start.at) {
    const ViewedRank& rank = *ranks[start.at->rank];
    start.when = rank.ToRun(StepTimes(rank.view().steps())[std::min(number, most) - 1]);
  }
  return start;
}

}  // namespace

StartPlace FindStart(const ServedStart& start, const ReadRanks& ranks) {
  using Kind = ServedStart::Kind;
  StartPlace place;
  switch (start.kind) {
    case Kind::kNowhere:
      break;
    case Kind::kGap:
      return FindGap(start.number, ranks);
    case Kind::kStep:
      return FindStep(start.number, ranks);
    case Kind::kTime:
      place.when =
          Interval{TimeNs{} + start.time - kAroundTime, TimeNs{} + start.time + kAroundTime};
      break;
    case Kind::kName:
      Begin(NextHit(ranks, start.name, TimeNs{-kMostApiTime}, true), place);
      if (!place.when)
        place.lacks = fmt::format("\"{}\": no slice has this in its name", start.name);
      break;
  }
  return place;
}

}  // namespace tacho
