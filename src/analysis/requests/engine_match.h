#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/join.h"
#include "analysis/requests/possible_seats.h"

namespace tacho {

// Whose requests an engine may have served.
enum class Served : uint8_t {
  // As kRecordedToLimit, and no request pauses: once it has its first token, it is in each step
  // that generates until its last one. An engine pauses a request if its memory is short; vLLM then
  // reads it again, and the step has more tokens than requests. So this holds of the requests that
  // have no such step between their tokens.
  kRecordedGapless,
  // Those of the records: each step makes as many of their tokens as it says. And the engine knows
  // which step makes the last token that a request may have.
  kRecordedToLimit,
  // Those of the records, and a request may be in another step or two after the one that makes its
  // last token (SGLang with overlapped scheduling).
  kRecorded,
  // As kRecordedGapless, and the engine also reads prompts of others, whose answers have one token
  // at most: a load of prompts, a health check.
  kOthersPrompts,
  kOthersToo,  // also others
};

// The assignment of requests to the steps of one engine.
class EngineMatch {
 public:
  // All must outlive it. `engine` has steps, and `rooms` are theirs.
  EngineMatch(const JoinEngine& engine, const StepRooms& rooms, const TokenTimesOf& times)
      : rooms_(rooms), times_(times), seats_(engine, rooms, times) {}

  // `optional`: it may also have been served by another engine.
  void Add(uint32_t request, bool optional) { seats_.Add(request, optional); }

  // Finds out where tokens can be: kJoined, kOthers, kContradiction or kTooMuch. An optional
  // request that cannot be here ends with fits = false; one that some step needs ends with needed =
  // true.
  JoinWhy Match(Served served);
  // Whether, somewhere, more requests are in a step than the records have in flight within a
  // second, or a prompt is read that is longer than each of theirs. So the engine served others,
  // unless the clocks are wrong by a second.
  [[nodiscard]] bool OthersProven() const;
  // Whether kRecordedGapless may hold.
  [[nodiscard]] bool MayBeGapless() const {
    return rooms_.uneven_before.back() < rooms_.answers.size();
  }
  // After a match to the limit: whether a request lies in the trace with all its tokens and steps
  // after them. One more step with it would have been a contradiction there.
  [[nodiscard]] bool LimitProven() const;

  [[nodiscard]] const PossibleSeats& seats() const { return seats_; }
  [[nodiscard]] bool needed(size_t seating) const { return needed_[seating]; }
  // The fit of token `token` of a seating.
  [[nodiscard]] TokenSeat SeatOf(const Seating& seating, uint32_t token) const;

 private:
  // Calls `each` with a request and the steps in which it may have been in flight: from, until.
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
