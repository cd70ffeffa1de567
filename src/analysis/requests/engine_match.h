#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/join.h"
#include "analysis/requests/possible_seats.h"

namespace tacho {

// Whose requests an engine may have served.
enum class Served : uint8_t {
  // As kRecordedToLimit, and no request pauses: from its first token to its last one, a request is
  // in each step that generates. An engine pauses a request if its memory is short; vLLM then reads
  // the request again, in a step that has more tokens than requests. So this holds only for
  // requests that have no such step between their tokens.
  kRecordedGapless,
  // Only requests of the records: each step makes as many of their tokens as it says. And the
  // engine knows which step makes the last token that a request may have.
  kRecordedToLimit,
  // Only requests of the records, but a request may be in one or two more steps after the one that
  // makes its last token (SGLang with overlapped scheduling).
  kRecorded,
  // As kRecordedGapless, and the engine also reads prompts of others, whose answers have one token
  // at most: a load of prompts, a health check.
  kOthersPrompts,
  kOthersToo,  // requests of the records, and others
};

// The assignment of requests to the steps of one engine.
class EngineMatch {
 public:
  // All must outlive it. `engine` has steps, and `rooms` are theirs.
  EngineMatch(const JoinEngine& engine, const StepRooms& rooms, const TokenTimesOf& times)
      : rooms_(rooms), times_(times), seats_(engine, rooms, times) {}

  // `optional`: another engine may have served the request.
  void Add(uint32_t request, bool optional) { seats_.Add(request, optional); }

  // Finds out where tokens can be: kJoined, kOthers, kContradiction or kTooMuch. An optional
  // request that cannot be here ends with fits = false; one that some step needs ends with needed =
  // true.
  JoinWhy Match(Served served);
  // Whether some step has more requests than the records have in flight within a second of it, or
  // reads a prompt that is longer than all that they have in flight then. If so, the engine served
  // others, unless the clocks are wrong by a second.
  [[nodiscard]] bool OthersProven() const;
  // Whether kRecordedGapless may hold.
  [[nodiscard]] bool MayBeGapless() const {
    return rooms_.uneven_before.back() < rooms_.answers.size();
  }
  // After a match in which the engine knows the last tokens (kRecordedToLimit): whether some
  // request that ended at its limit lies in the trace with all its tokens, and the trace has steps
  // after them. One more step with this request would have been a contradiction there.
  [[nodiscard]] bool LimitProven() const;

  [[nodiscard]] const PossibleSeats& seats() const { return seats_; }
  [[nodiscard]] bool needed(size_t seating) const { return needed_[seating]; }
  // The fit of token `token` of a seating.
  [[nodiscard]] TokenSeat SeatOf(const Seating& seating, uint32_t token) const;

 private:
  // Calls `each` with the times of a request, and with the first and the last step in which it may
  // have been in flight. `margin`: how much longer it counts as in flight at both ends.
  template <typename Each>
  void ForFlights(DurationNs margin, const Each& each) const;
  [[nodiscard]] std::vector<int64_t> InFlight(DurationNs margin) const;
  [[nodiscard]] bool ReadsForeignPrompt() const;
  JoinWhy Propagate(Served served, const std::vector<int64_t>& in_flight);
  [[nodiscard]] bool AllFit() const;
  // Whether a token of the records may be in some step.
  [[nodiscard]] bool AnyInside() const;
  void OrderAll(bool& changed);

  const StepRooms& rooms_;
  const TokenTimesOf& times_;
  PossibleSeats seats_;
  std::vector<bool> needed_;
};

}  // namespace tacho
