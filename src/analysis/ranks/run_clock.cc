#include "analysis/ranks/run_clock.h"

#include <algorithm>

#include "analysis/ranks/recordings.h"

namespace tacho {

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

std::vector<std::optional<DurationNs>> StartsOnRunClock(const std::vector<RankInput>& inputs) {
  std::vector<std::optional<DurationNs>> starts(inputs.size(), DurationNs{});
  const RankInput* first = nullptr;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].span.empty()) continue;
    if (first == nullptr)
      first = &inputs[i];
    else
      starts[i] = StartAfter(*first, inputs[i]);
  }
  return starts;
}

}  // namespace tacho
