#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "base/time.h"

namespace tacho {

// What a clock belongs to. Its 0 is the Unix epoch unless the list says something else.
enum class ClockOf : uint8_t {
  kRun,     // 0: the first event of the first trace with events, as on the page of `tacho view`
  kTrace,   // the times in one trace's file; 0: TraceHeader::base_time_ns
  kHost,    // of the machine that a rank or an engine runs on
  kClient,  // of the machine that sent the requests
  kEngineLog,
};
struct ClockId {
  ClockOf of = ClockOf::kRun;
  uint32_t number = 0;  // tells clocks of one kind apart; of a trace: its index in the run

  auto operator<=>(const ClockId&) const = default;
};

// Converts times of one clock to times of another: adds `shift`. Additions saturate.
struct ClockShift {
  DurationNs shift;
  // The largest difference between the true shift and `shift`; absent: unknown.
  std::optional<DurationNs> error = DurationNs{};

  [[nodiscard]] TimeNs Convert(TimeNs t) const { return {AddSaturated(t.ns, shift.ns)}; }
  [[nodiscard]] Interval Convert(Interval when) const {
    return {Convert(when.start), Convert(when.end)};
  }
  // The interval that surely contains `when`: longer by the error at both ends, if that is known.
  [[nodiscard]] Interval Widened(Interval when) const;
  [[nodiscard]] ClockShift Back() const {
    return {{shift.ns == INT64_MIN ? INT64_MAX : -shift.ns}, error};
  }
  // This shift from clock A to B followed by `next` from B to C: the shift from A to C. Errors add
  // up.
  [[nodiscard]] ClockShift Then(const ClockShift& next) const;

  bool operator==(const ClockShift&) const = default;
};

// Which clocks of a run are related, and how. Two clocks without a chain of relations between them
// have no common time.
class ClockMap {
 public:
  // Time t on `from` is t + shift on `to`. Replaces an earlier relation of the pair.
  void Relate(ClockId from, ClockId to, const ClockShift& shift);
  // The shift from one clock to the other, along the chain with the fewest relations; among equals,
  // along the chain with the lowest ids. nullopt: no chain relates them. Cost: O(relations).
  [[nodiscard]] std::optional<ClockShift> Between(ClockId from, ClockId to) const;

 private:
  std::map<ClockId, std::map<ClockId, ClockShift>> relations_;  // both ways
};

}  // namespace tacho
