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
    kLostWork,   // more than a tenth of its steps lost GPU work
    kLostCalls,  // more than a tenth of its steps have GPU work whose launch calls are missing
    kShort,     // its events cover less than 95 % of the time that those of the longest rank cover,
                // and its profiler ran for less time or it has fewer steps
    kFewSteps,  // it has less than three quarters of the steps that another rank has
    kNoSteps,   // none of its steps has all of its GPU work, though steps of other ranks have
    kMissing,   // a run of the side has no trace of it
  } why = Why::kShort;
  bool of_base = false;      // `why` is true of the base side, else of the other
  std::string name;          // "TP1", "rank 1"; its path if neither is known
  double share = 0;          // for kShort and kFewSteps: its share of the largest rank's, 0..1
  bool on_both = false;      // the same rank of the other side is left out too
  bool in_all_runs = true;   // for kMissing: no run of the side has the rank
  bool is_left_out = false;  // false: its figures are compared nevertheless
};

// A sentence such as "TP1 is left out on both sides: new's holds 20 % of the recording"; "" if no
// rank is left out. If the two sides have no rank in common, their ranks are compared nevertheless,
// and the sentence says so.
std::string LeftOutText(const std::vector<UnequalRank>& ranks);
// Names the short ranks whose figures are compared, such as "TP1 of new holds 20 % of the
// recording"; "" if there are none.
std::string ShortRanksText(const std::vector<UnequalRank>& ranks);

}  // namespace tacho
