#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/engine_steps.h"
#include "analysis/requests/step_rooms.h"
#include "analysis/requests/token_times.h"

namespace tacho {

// The slots of StepRooms in which a token may have been made: from `first` to `last`, inclusive.
// The value -1 stands for all steps before the trace; the number of slots stands for all steps
// after it.
struct SeatRange {
  int32_t first = 0, last = 0;
  [[nodiscard]] bool fixed() const { return first == last; }
  bool operator==(const SeatRange&) const = default;
};

// A request that this engine may have served, and the slots that its tokens may be in.
struct Seating {
  uint32_t request = 0;
  // Another engine may have served the request, so it need not be in the steps of this one.
  bool optional = false;
  bool fits = true;
  uint32_t waits_from = 0;  // first step that may have read its prompt
  // Prompt slots that may have made its first token. If it has no tokens: prompt slots that may
  // have read its prompt.
  SeatRange first_token;
  size_t seats = 0;        // where PossibleSeats::seats has its second token, then the later ones
  uint32_t later = 0;      // number of its tokens after the first one
  int32_t more_first = 0;  // the first answer slot that may have a token that did not arrive
  int32_t over = -1;       // the last answer slot that may have such a token
};

// Finds the slots of an engine that each token of a request fits, by clocks and order.
//
// A step fits a token if it starts no earlier than the request was sent, and its tokens are out no
// later than the token arrived, up to the error of the clock. The trace may begin or end in the
// middle of the engine's work, but it has each step between its first and its last one.
class PossibleSeats {
 public:
  // `engine`, `rooms` and `times` must outlive the object. `engine` has steps and a clock_error.
  PossibleSeats(const JoinEngine& engine, const StepRooms& rooms, const TokenTimesOf& times);

  // Adds a request. Seating::fits becomes false if this engine cannot have served it. Cost:
  // O(tokens), and O(log steps) for each gap between tokens.
  void Add(uint32_t request, bool optional);
  // Narrows the ranges of one request by the order of its tokens: a later token is in a later slot
  // and, if `gapless`, in the very next one. Returns whether a range changed. Cost: O(tokens).
  bool Order(Seating& seating);

  // True: between its first and its last token, a request is in each step that generates, as in
  // continuous batching. A request is exempt if some slot between these tokens makes more tokens
  // than the slot's step has generating requests: such a step may read the prompt of a preempted
  // request again.
  bool gapless = false;

  std::vector<Seating> seatings;  // in the order of Add
  // Answer slots of all tokens except the first one of each request; see Seating::seats.
  std::vector<SeatRange> seats;

  [[nodiscard]] int32_t prompt_slots() const {
    return static_cast<int32_t>(rooms_->prompts.size());
  }
  [[nodiscard]] int32_t answer_slots() const {
    return static_cast<int32_t>(rooms_->answers.size());
  }
  // The first step that may have started at `at` or later, and the last step that may have started
  // at `at` or earlier (-1: no step), given the error of the clock.
  [[nodiscard]] uint32_t FirstFrom(TimeNs at) const;
  [[nodiscard]] int64_t LastUntil(TimeNs at) const;

 private:
  void PlaceFirst(Seating& seating, const TokenTimes& times);
  // The last step that had ended by `at`, searched from step `from` on. Returns -1 if no step had,
  // and the number of steps if even a step after the trace may have ended by `at`.
  [[nodiscard]] int64_t LastEnded(TimeNs at, int64_t from) const;
  // Converts a result of LastEnded: the last prompt or answer slot at or before that step. `before`
  // is StepRooms::prompts_before or answers_before.
  [[nodiscard]] int32_t SlotUntil(const std::vector<uint32_t>& before, int64_t step) const;
  bool OrderForward(Seating& seating);
  bool OrderBackward(Seating& seating);
  [[nodiscard]] bool IsGapless(const Seating& seating) const;
  bool CloseGaps(Seating& seating);

  const JoinEngine* engine_;
  const StepRooms* rooms_;
  const TokenTimesOf* times_;
  DurationNs error_;
  std::vector<TimeNs> earliest_made_;  // by step: the earliest `made` of it and all later steps
  TimeNs last_made_;
};

}  // namespace tacho
