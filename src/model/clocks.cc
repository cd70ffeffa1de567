#include "model/clocks.h"

#include <deque>

namespace tacho {

Interval ClockShift::Widened(Interval when) const {
  const DurationNs wider = error.value_or(DurationNs{});
  return Convert(
      Interval{{AddSaturated(when.start.ns, -wider.ns)}, {AddSaturated(when.end.ns, wider.ns)}});
}

ClockShift ClockShift::Then(const ClockShift& next) const {
  ClockShift both{{AddSaturated(shift.ns, next.shift.ns)}, std::nullopt};
  if (error && next.error) both.error = DurationNs{AddSaturated(error->ns, next.error->ns)};
  return both;
}

void ClockMap::Relate(ClockId from, ClockId to, const ClockShift& shift) {
  relations_[from][to] = shift;
  relations_[to][from] = shift.Back();
}

std::optional<ClockShift> ClockMap::Between(ClockId from, ClockId to) const {
  std::map<ClockId, ClockShift> reached{{from, ClockShift{}}};
  std::deque<ClockId> next{from};
  while (!next.empty()) {
    const ClockId at = next.front();
    next.pop_front();
    if (at == to) return reached.at(at);
    const auto relations = relations_.find(at);
    if (relations == relations_.end()) continue;
    for (const auto& [other, shift] : relations->second) {
      if (reached.try_emplace(other, reached.at(at).Then(shift)).second) next.push_back(other);
    }
  }
  return std::nullopt;
}

}  // namespace tacho
