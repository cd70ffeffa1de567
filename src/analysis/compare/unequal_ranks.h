#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// A rank that does not hold what the other ranks of its engine hold.
struct UnequalRank {
  enum class Why : uint8_t {
    kCut,        // its trace is cut off or damaged, by more than the loss of GPU work
    kOverflow,   // it has GPU work whose duration cannot be right
    kUntimed,    // its GPU work has no times
    kLostWork,   // GPU work of more than a tenth of its steps is lost
    kLostCalls,  // the same, but the work is there, and the calls that launched it are not
    kShort,      // it holds less than 95 % of the time that the longest rank holds, by its events;
                 // unless its profiler ran as long and it has as many steps
    kFewSteps,   // it has less than three quarters of the steps that another rank has
    kNoSteps,    // no other rank stands for it, and no step of it has all of its GPU work
    kMissing,    // a run of the side has no trace of it
  } why = Why::kShort;
  bool of_base = false;      // the side where this holds
  std::string name;          // "TP1", "rank 1"; its path if neither is known
  double share = 0;          // of kShort and kFewSteps: its part of the most of any rank, 0..1
  bool on_both = false;      // the same rank of the other side is left out too
  bool in_all_runs = true;   // of kMissing: no run of the side has it
  bool is_left_out = false;  // false: its figures count all the same
};

// One sentence: "TP1 is left out on both sides: new's holds 20 % of the recording"; "" if no rank
// is left out. Where all ranks that are there are missing on the other side, they are compared
// nonetheless, and the sentence says so.
std::string LeftOutText(const std::vector<UnequalRank>& ranks);
// "TP1 of new holds 20 % of the recording": the short ranks whose figures count; "" without any.
std::string ShortRanksText(const std::vector<UnequalRank>& ranks);

}  // namespace tacho
