#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/engine_steps.h"
#include "analysis/requests/step_rooms.h"
#include "analysis/requests/token_times.h"

namespace tacho {

// The slots from `first` to `last` of StepRooms that a token may be in: -1 stands for all steps
// before the trace, the number of slots for all steps after it.
struct SeatRange {
  int32_t first = 0, last = 0;
  [[nodiscard]] bool fixed() const { return first == last; }
  bool operator==(const SeatRange&) const = default;
};

// A request that an engine may have served.
struct Seating {
  uint32_t request = 0;
  // Its engine is not known, so it need not be in the steps of this one.
  bool optional = false;
  bool fits = true;
  uint32_t waits_from = 0;  // first step that may have read its prompt
  SeatRange first_token;    // prompt slots; of a request without tokens: where it may be read
  size_t seats = 0;         // index into PossibleSeats::seats: its later tokens, answer slots
  uint32_t later = 0;       // number of these
  int32_t more_first = 0;   // the first answer slot that may have a token beyond these
  int32_t over = -1;        // the last answer slot that may have one
};

// Where the tokens of requests fit on an engine by clocks and order.
//
// A step fits a token if it starts when the request was sent, or later, and its tokens are out when
// the token arrived, or earlier, up to the error of the clock. The trace may begin after the engine
// has made tokens and end before it makes more, but it has each step between its first and its last
// one.
class PossibleSeats {
 public:
  // `engine`, `rooms` and `times` must outlive it. `engine` has at least one step and a clock.
  PossibleSeats(const JoinEngine& engine, const StepRooms& rooms, const TokenTimesOf& times);

  // Adds a request. Seating::fits is false if it cannot have been here. Cost: O(tokens), and
  // O(log steps) for each gap between tokens.
  void Add(uint32_t request, bool optional);
  // Applies order to the ranges of one request: later tokens are in later slots; and if `gapless`,
  // in the very next ones. Returns whether a range changed. Cost: O(tokens).
  bool Order(Seating& seating);

  // True: from its first token to its last, a request is in each step that generates, as in
  // continuous batching. This is applied to a request only if each slot between these tokens makes
  // exactly one token for each generating request. A slot with more tokens may read a preempted
  // request again.
  bool gapless = false;

  std::vector<Seating> seatings;
  std::vector<SeatRange> seats;

  [[nodiscard]] int32_t prompt_slots() const {
    return static_cast<int32_t>(rooms_->prompts.size());
  }
  [[nodiscard]] int32_t answer_slots() const {
    return static_cast<int32_t>(rooms_->answers.size());
  }
  // The first step that starts at `at` or later, and the last one that starts then or earlier (-1:
  // none), up to the error of the clock.
  [[nodiscard]] uint32_t FirstFrom(TimeNs at) const;
  [[nodiscard]] int64_t LastUntil(TimeNs at) const;

 private:
  void PlaceFirst(Seating& seating, const TokenTimes& times);
  // The last step that has ended at `at`, searched from step `from` on; -1: none; the number of
  // steps: a step after the trace may have ended by then.
  [[nodiscard]] int64_t LastEnded(TimeNs at, int64_t from) const;
  // The last prompt or answer slot at or before a step of LastEnded.
  [[nodiscard]] int32_t SlotUntil(const std::vector<uint32_t>& before, int64_t step) const;
  bool OrderForward(Seating& seating);
  bool OrderBackward(Seating& seating);
  [[nodiscard]] bool IsGapless(const Seating& seating) const;
  bool CloseGaps(Seating& seating);

  const JoinEngine* engine_;
  const StepRooms* rooms_;
  const TokenTimesOf* times_;
  DurationNs error_;
  std::vector<TimeNs> earliest_made_;  // by step: of it and all later ones
  TimeNs last_made_;
};

}  // namespace tacho
