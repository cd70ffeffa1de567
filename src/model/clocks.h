#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "base/time.h"

namespace tacho {

// What a clock belongs to. A clock's 0 is the Unix epoch unless the list says otherwise.
enum class ClockOf : uint8_t {
  kRun,     // 0: the first event of the first trace with events, as on the page of `tacho view`
  kTrace,   // the times in one trace's file; 0: TraceHeader::base_time_ns
  kHost,    // the clock of the machine that a rank or an engine runs on
  kClient,  // the clock of the machine that sent the requests
  kEngineLog,
};
struct ClockId {
  ClockOf of = ClockOf::kRun;
  uint32_t number = 0;  // distinguishes clocks of one kind; for a trace: its index in the run

  auto operator<=>(const ClockId&) const = default;
};

// Converts times on one clock to times on another by adding `shift`. Additions saturate.
struct ClockShift {
  DurationNs shift;
  // How far `shift` may be from the true shift; absent: unknown.
  std::optional<DurationNs> error = DurationNs{};

  [[nodiscard]] TimeNs Convert(TimeNs t) const { return {AddSaturated(t.ns, shift.ns)}; }
  [[nodiscard]] Interval Convert(Interval when) const {
    return {Convert(when.start), Convert(when.end)};
  }
  // `when`, extended at both ends by the error of the shift, so that it surely contains the true
  // interval. Unchanged if the error is not known.
  [[nodiscard]] Interval Widened(Interval when) const;
  [[nodiscard]] ClockShift Back() const {
    return {{shift.ns == INT64_MIN ? INT64_MAX : -shift.ns}, error};
  }
  // If this is the shift from clock A to B and `next` the shift from B to C: the shift from A to C.
  // Errors add up.
  [[nodiscard]] ClockShift Then(const ClockShift& next) const;

  bool operator==(const ClockShift&) const = default;
};

// Which clocks of a run are related, and by which shift. Times of two clocks can be compared only
// if a chain of relations connects them.
class ClockMap {
 public:
  // Time t on `from` is t + shift on `to`. Replaces an earlier relation of these two clocks.
  void Relate(ClockId from, ClockId to, const ClockShift& shift);
  // The shift from one clock to the other along the chain with the fewest relations (if several:
  // the one with the lowest ids). nullopt: no chain connects them. Cost: O(relations).
  [[nodiscard]] std::optional<ClockShift> Between(ClockId from, ClockId to) const;

 private:
  std::map<ClockId, std::map<ClockId, ClockShift>> relations_;  // each relation in both directions
};

}  // namespace tacho
