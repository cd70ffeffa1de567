#include "analysis/ranks/run_clock.h"

#include <algorithm>
#include <optional>

#include "analysis/ranks/recordings.h"

namespace tacho {
namespace {

// The time from the first event of `first` to the first event of `other`; nullopt if they have no
// Unix times or lie kFarApart or more apart.
std::optional<DurationNs> StartAfter(const RankInput& first, const RankInput& other) {
  const auto times = RecordedTimes({first, other});
  if (!times[0] || !times[1] || !IsUnixTime(times[0]->start) || !IsUnixTime(times[1]->start)) {
    return std::nullopt;
  }
  const DurationNs apart =
      std::max(times[0]->start, times[1]->start) - std::min(times[0]->end, times[1]->end);
  if (apart >= kFarApart) return std::nullopt;
  return times[1]->start - times[0]->start;
}

}  // namespace

bool PlaceOnRunClock(const RankInput& first, const RankInput& trace, uint32_t number,
                     ClockMap& clocks) {
  ClockShift to_run{TimeNs{} - trace.span.start};
  if (&trace != &first) {
    const std::optional<DurationNs> after = StartAfter(first, trace);
    if (!after) return false;
    to_run = to_run.Then({*after, std::nullopt});
  }
  clocks.Relate({ClockOf::kTrace, number}, {ClockOf::kRun}, to_run);
  return true;
}

ClockMap ClocksOf(const std::vector<RankInput>& traces) {
  ClockMap clocks;
  const RankInput* first = nullptr;
  for (uint32_t i = 0; i < traces.size(); ++i) {
    if (traces[i].span.empty()) continue;
    if (first == nullptr) first = &traces[i];
    PlaceOnRunClock(*first, traces[i], i, clocks);
  }
  return clocks;
}

}  // namespace tacho
