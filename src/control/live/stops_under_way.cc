#include "control/live/stops_under_way.h"

#include <algorithm>
#include <utility>

#include "base/monotonic_clock.h"

namespace tacho {

void StopsUnderWay::Ask(size_t worker, PlannedStop stop) {
  if (Asked(worker)) return;
  const int64_t sent_ns = MonotonicNs();
  took_ns_[worker] = 0;
  asked_[worker] = {
      sent_ns, std::async(std::launch::async, [this, worker, sent_ns, stop = std::move(stop)] {
        ControlOutcome outcome = StopAll(client_, {stop}, patience_, leave_.get_token()).front();
        took_ns_[worker] = std::max<int64_t>(1, MonotonicNs() - sent_ns);
        return outcome;
      })};
}

int64_t StopsUnderWay::ElapsedNs(size_t worker) const {
  const auto at = asked_.find(worker);
  return at == asked_.end() ? 0 : MonotonicNs() - at->second.sent_ns;
}

std::optional<int64_t> StopsUnderWay::TookNs(size_t worker) const {
  const int64_t took_ns = took_ns_[worker];
  return took_ns == 0 ? std::nullopt : std::optional(took_ns);
}

bool StopsUnderWay::AllAnswered(std::chrono::milliseconds most) const {
  const auto end = std::chrono::steady_clock::now() + most;
  return std::ranges::all_of(asked_, [&](const auto& stop) {
    return stop.second.answer.wait_until(end) == std::future_status::ready;
  });
}

std::map<size_t, ControlOutcome> StopsUnderWay::Take() {
  std::map<size_t, ControlOutcome> outcomes;
  for (auto& [worker, stop] : asked_) outcomes[worker] = stop.answer.get();
  asked_.clear();
  leave_ = {};
  return outcomes;
}

}  // namespace tacho
