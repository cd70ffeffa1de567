#include "analysis/device/in_flight.h"

#include <algorithm>

#include "analysis/steps/steps.h"

namespace tacho {
namespace {

bool HasRequests(const Step& step) {
  const Phase phase = step.label.phase;
  return phase == Phase::kPrefill || phase == Phase::kDecode || phase == Phase::kMixed;
}

}  // namespace

std::string_view RequestsName(Requests requests) {
  static constexpr std::string_view kNames[kRequestsCount] = {"unknown", "known", "shared",
                                                              "others"};
  return kNames[static_cast<size_t>(requests)];
}

Requests CheckInFlight(const Trace& trace, const InFlight& in_flight) {
  const Requests told = in_flight.shared ? Requests::kShared : Requests::kKnown;
  const std::vector<Step> steps = FindSteps(trace).steps;
  if (std::ranges::any_of(steps, HasRequests)) {
    const bool others = std::ranges::any_of(steps, [&](const Step& step) {
      return HasRequests(step) && !in_flight.when.Touches(step.when);
    });
    return others ? Requests::kOthers : told;
  }
  std::vector<Interval> work;
  for (size_t row = 0; row < trace.gpu.size(); ++row) work.push_back(trace.gpu.When(row));
  const IntervalSet busy(std::move(work));
  if (busy.empty()) return told;
  const Interval window{busy.intervals().front().start, busy.intervals().back().end};
  const DurationNs outside = window.length() - in_flight.when.Covered(window);
  const DurationNs busy_outside = busy.Without(in_flight.when).Covered(window);
  return busy_outside.ns > outside.ns / 10 ? Requests::kOthers : told;
}

}  // namespace tacho
