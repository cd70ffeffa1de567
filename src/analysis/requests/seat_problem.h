#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/possible_seats.h"
#include "analysis/requests/slot_flow.h"

namespace tacho {

// Puts the assignment of tokens to the slots of an engine's steps (step_rooms.h) into the form of a
// SlotProblem, and solves it. The slots of the problem are the answer slots, then the prompt slots.
// A token that fits only one slot just reduces the slot's bounds. The other tokens become runs: one
// run for consecutive tokens of a request whose ranges of slots touch.
class SeatProblem {
 public:
  // `needs[slot]`: recorded tokens must fill this answer slot to the count that its step reports.
  // `knows_limit`: a request that reached its token limit is in no step after its last token.
  SeatProblem(const PossibleSeats& seats, const StepRooms& rooms, const TokenTimesOf& times,
              const std::vector<bool>& needs, bool knows_limit);

  // Solves the problem by SolveSlots, with the bound `work`, and narrows the ranges of `seats` by
  // the result. Sets needed[i] if some slot needs a token of seatings[i]. Sets Seating::fits to
  // false for an optional request whose tokens find no room.
  SlotFit Solve(PossibleSeats& seats, std::vector<bool>& needed, uint64_t work);

 private:
  // Consecutive tokens of one request: [first, end), where token 0 is its first one.
  struct Part {
    uint32_t seating = 0;
    uint32_t first = 0, end = 0;
  };
  // Tokens that were made but did not arrive: up to `tokens` of them in the slots [first, last].
  struct More {
    int32_t tokens = 0, first = 0, last = -1;
  };
  void AddFirst(const PossibleSeats& seats, uint32_t seating);
  void AddLater(const PossibleSeats& seats, uint32_t seating);
  // Adds a run for `part`. `ranges`: the slots that each of its tokens fits, counted from slot
  // `base` of the problem on. `slots`: how many slots there are from `base` on for these tokens.
  void AddRun(const Part& part, const SeatRange* ranges, uint32_t base, int32_t slots,
              const More& more, bool optional);
  void ReadBack(PossibleSeats& seats, size_t run) const;

  const TokenTimesOf& times_;
  bool knows_limit_;
  int32_t answers_, prompts_;
  SlotProblem problem_;
  std::vector<Part> parts_;  // by run
};

}  // namespace tacho
