#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tacho {

// How many of something there may be.
struct CountBounds {
  int32_t least = 0, most = 0;
  [[nodiscard]] bool fixed() const { return least == most; }
  bool operator==(const CountBounds&) const = default;
};

// Slots that hold tokens, and runs of tokens that go through consecutive slots: in each slot a run
// leaves some of its tokens. `placed` says which slots the tokens may be in: how many of them are
// placed before the first slot of the run, and after each of its slots.
struct SlotProblem {
  static constexpr int32_t kNoLimit = 1 << 29;

  struct Slot {
    CountBounds tokens;       // of all runs together
    int32_t most_of_one = 1;  // of one run
  };
  struct Run {
    uint32_t first_slot = 0, slots = 0;
    size_t placed = 0;    // index into `placed`: slots + 1 entries
    bool needed = false;  // result: some slot has one of its tokens in each assignment
  };
  std::vector<Slot> slots;
  std::vector<Run> runs;
  // Each run's entries do not fall, and `least` rises by at most most_of_one from one slot to the
  // next.
  std::vector<CountBounds> placed;
};

enum class SlotFit : uint8_t { kFits, kFitsNot, kTooMuch };

// Finds out which counts are the same in all assignments: narrows `placed` to these, and to what
// follows from them. An entry that stays open has at least two values in some assignments.
//
// The assignments are the integer points of a flow with bounds: each slot gives tokens to its runs,
// each run carries the number of its tokens from slot to slot. One assignment is found (sweep by
// the earliest deadline, then augmenting paths). An arc of a flow is fixed if no cycle of the
// residual graph passes through it: if its ends are in different strongly connected components, or
// if it alone joins two parts of its component. Exact. Cost: O(slots of all runs), and for each
// token that the sweep places badly a search; all searches visit at most `work` nodes, beyond which
// the answer is kTooMuch. If the answer is not kFits, the problem is unchanged.
SlotFit SolveSlots(SlotProblem& problem, uint64_t work);

}  // namespace tacho
