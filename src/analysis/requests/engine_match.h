#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/join.h"
#include "analysis/requests/possible_seats.h"

namespace tacho {

// What a match assumes about the requests that an engine served, strictest first.
enum class Served : uint8_t {
  // Like kRecordedToLimit. In addition, no request pauses: from its first token to its last, it is
  // in each step that generates. A request is exempt if a step between its tokens has more tokens
  // than requests: if memory runs short, vLLM pauses a request, and later reads its prompt again in
  // such a step.
  kRecordedGapless,
  // The engine served only recorded requests, so they account for all tokens that the steps report.
  // A request that reached its token limit is in no step after its last token.
  kRecordedToLimit,
  // The engine served only recorded requests, but a request may be in one or two more steps after
  // the one that makes its last token (SGLang with overlapped scheduling).
  kRecorded,
  // Like kRecordedGapless, but the engine also read prompts of other requests, whose answers have
  // at most one token, such as health checks.
  kOthersPrompts,
  kOthersToo,  // the engine served any other requests too
};

// The assignment of requests to the steps of one engine.
class EngineMatch {
 public:
  // The arguments must outlive the object. `engine` has steps, and `rooms` was made from them.
  EngineMatch(const JoinEngine& engine, const StepRooms& rooms, const TokenTimesOf& times)
      : rooms_(rooms), times_(times), seats_(engine, rooms, times) {}

  // `optional`: another engine may have served the request.
  void Add(uint32_t request, bool optional) { seats_.Add(request, optional); }

  // Finds the slots that each token can be in. Returns kJoined, kOthers, kContradiction or
  // kTooMuch. For an optional request that cannot be on this engine, Seating::fits becomes false.
  // If some step needs a token of a request, needed() is true for this request.
  JoinWhy Match(Served served);
  // True if some step has more requests, or reads a longer prompt, than the recorded requests in
  // flight within a second of the step. This proves that the engine served others too, unless the
  // clocks are wrong by more than a second.
  [[nodiscard]] bool OthersProven() const;
  // Whether kRecordedGapless may hold: some step makes exactly one token for each request.
  [[nodiscard]] bool MayBeGapless() const {
    return rooms_.uneven_before.back() < rooms_.answers.size();
  }
  // Call after Match(kRecordedToLimit) or Match(kRecordedGapless). True if the trace supports the
  // assumption that a request is in no step after it reached its token limit: some request that
  // ended at its limit has all its tokens in the trace, and is not in the steps that follow.
  [[nodiscard]] bool LimitProven() const;

  [[nodiscard]] const PossibleSeats& seats() const { return seats_; }
  [[nodiscard]] bool needed(size_t seating) const { return needed_[seating]; }
  // What is known about the step of token `token` of the seating's request.
  [[nodiscard]] TokenSeat SeatOf(const Seating& seating, uint32_t token) const;

 private:
  // Calls `each` for each request, with its times and with the first and the last step in which it
  // may have been in flight. Each flight is extended by `margin` at both ends.
  template <typename Each>
  void ForFlights(DurationNs margin, const Each& each) const;
  [[nodiscard]] std::vector<int64_t> InFlight(DurationNs margin) const;
  [[nodiscard]] bool ReadsForeignPrompt() const;
  JoinWhy Propagate(Served served, const std::vector<int64_t>& in_flight);
  [[nodiscard]] bool AllFit() const;
  // Whether any recorded token may have been made by a step of the trace.
  [[nodiscard]] bool AnyInside() const;
  void OrderAll(bool& changed);

  const StepRooms& rooms_;
  const TokenTimesOf& times_;
  PossibleSeats seats_;
  std::vector<bool> needed_;
};

}  // namespace tacho
