#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/possible_seats.h"
#include "analysis/requests/slot_flow.h"

namespace tacho {

// The assignment of tokens to slots as a SlotProblem: the answer slots, then the prompt slots. A
// token that fits in one slot only is taken out of the slot's room. The other tokens are runs, one
// for each stretch of a request's tokens whose ranges touch.
class SeatProblem {
 public:
  // `needs`, by answer slot: whether tokens of the records must fill it, as its step says.
  // `knows_limit`: requests that end at their limit are in no step after that.
  SeatProblem(const PossibleSeats& seats, const StepRooms& rooms, const TokenTimesOf& times,
              const std::vector<bool>& needs, bool knows_limit);

  // Solves it, and narrows the ranges of `seats` to what it finds. `needed`, by seating: some slot
  // needs one of its tokens. An optional request that has no room for its tokens gets fits = false.
  SlotFit Solve(PossibleSeats& seats, std::vector<bool>& needed, uint64_t work);

 private:
  // A stretch of one request's tokens; 0 is its first token.
  struct Part {
    uint32_t seating = 0;
    uint32_t first = 0, end = 0;
  };
  // Tokens that are not in the record: up to `tokens` of them in the slots from `first` to `last`.
  struct More {
    int32_t tokens = 0, first = 0, last = -1;
  };
  void AddFirst(const PossibleSeats& seats, uint32_t seating);
  void AddLater(const PossibleSeats& seats, uint32_t seating);
  // Adds the run of a part whose tokens have these ranges, in the `slots` slots from `base` on.
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
