#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tacho {

// Bounds on a number of tokens, inclusive.
struct CountBounds {
  int32_t least = 0, most = 0;
  [[nodiscard]] bool fixed() const { return least == most; }
  bool operator==(const CountBounds&) const = default;
};

// Tokens are to be put into slots. A run is a group of tokens that go, in order, into consecutive
// slots: each slot gets some of them, or none. `placed` bounds, for each run, how many of its
// tokens lie before its first slot, and how many lie up to and including each of its slots.
struct SlotProblem {
  static constexpr int32_t kNoLimit = 1 << 29;

  struct Slot {
    CountBounds tokens;       // how many tokens the slot gets from all runs together
    int32_t most_of_one = 1;  // how many it gets from one run at most
  };
  struct Run {
    uint32_t first_slot = 0, slots = 0;
    size_t placed = 0;    // index of the first of its slots + 1 entries in SlotProblem::placed
    bool needed = false;  // result: some slot has one of its tokens in all assignments
  };
  std::vector<Slot> slots;
  std::vector<Run> runs;
  // From one entry of a run to the next, neither bound falls, and `least` rises by at most
  // most_of_one.
  std::vector<CountBounds> placed;
};

enum class SlotFit : uint8_t { kFits, kFitsNot, kTooMuch };

// Finds the counts that are the same in all assignments of tokens to slots that meet the bounds,
// and narrows `placed` to them and to what follows from them. An entry that stays open has
// different values in different assignments.
//
// The assignments are the integer flows within bounds in a graph: each slot gives tokens to its
// runs, and each run carries the count of its tokens from slot to slot. One assignment is found by
// a sweep (earliest deadline first), then repaired by augmenting paths. The flow of an arc is the
// same in all assignments if no cycle of the residual graph passes through the arc: its ends are in
// different strongly connected components, or it alone joins two parts of its component. The result
// is exact.
//
// Cost: O(slots of all runs), and a search for each token that the sweep misplaced. All searches
// visit at most `work` nodes; if they need more, the answer is kTooMuch. Unless the answer is
// kFits, the problem is unchanged.
SlotFit SolveSlots(SlotProblem& problem, uint64_t work);

}  // namespace tacho
