#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// The traces that a comparison takes its figures from, by run of one side: those of RanksOf,
// without the ranks that are left out.
using RunRanks = std::vector<const TraceAnalysis*>;
using SideRanks = std::vector<RunRanks>;
SideRanks AllRanksOf(const std::vector<RunAnalysis>& runs);

// A rank that does not hold what the other ranks of its engine hold.
struct UnequalRank {
  enum class Why : uint8_t {
    kCut,       // its trace is cut off or damaged, by more than the loss of GPU work
    kUntimed,   // its GPU work has no times
    kLostWork,  // GPU work of more than a tenth of its steps is lost
    kShort,     // it holds less than 95 % of the time that the longest rank holds, by its events;
                // unless its profiler ran as long and it has as many steps
    kFewSteps,  // it has less than three quarters of the steps that another rank has
    kMissing,   // a run of the side has no trace of it
  } why = Why::kShort;
  bool of_base = false;      // the side where this holds
  std::string name;          // "TP1", "rank 1"; its path if neither is known
  double share = 0;          // of kShort and kFewSteps: its part of the most of any rank, 0..1
  bool on_both = false;      // the same rank of the other side is left out too
  bool in_all_runs = true;   // of kMissing: no run of the side has it
  bool is_left_out = false;  // false: its figures count all the same
};

struct ComparedRanks {
  SideRanks base, now;
  std::vector<UnequalRank> unequal;  // base first; in the order of runs, then of traces
  // Of the ranks that were not left out none is on both sides, so that other ranks are compared.
  bool none_common = false;
};

// Decides which ranks stand for a run. Unequal ranks are left out, because their figures have
// another weight than those of whole ranks: ranks may differ in batches, kernels and lengths of
// steps. The same rank of all other runs is left out with them. Ranks are compared within one
// recording, worker and stage. If all ranks there are cut, none counts as cut. If no rank would
// remain of a run there, only the ranks that are unequal themselves are left out of it.
//
// `by_steps`: figures are of steps. If not, sums over whole recordings are compared: ranks without
// a trace on the other side are left out, and all other unequal ranks are only reported.
ComparedRanks RanksToCompare(const std::vector<RunAnalysis>& base,
                             const std::vector<RunAnalysis>& now, bool by_steps);

// One sentence: "TP1 is left out on both sides: new's holds 20 % of the recording"; "" if no rank
// is left out. Where all ranks that are there are missing on the other side, they are compared
// nonetheless, and the sentence says so.
std::string LeftOutText(const std::vector<UnequalRank>& ranks);
// "TP1 of new holds 20 % of the recording": the short ranks whose figures count; "" without any.
std::string ShortRanksText(const std::vector<UnequalRank>& ranks);

}  // namespace tacho
