#pragma once

#include <string>

#include "analysis/analyze.h"

namespace tacho {

// One sentence that says where the time went, made of figures of these results only.
// "GPU busy 13.7 % of 84.5 ms; the host launched late for 71.0 % of the idle time".
// `ranks`: the ranks of its run, if the run has no other trace; reports the missing ones.
std::string Verdict(const TraceAnalysis& trace, const RankTable& ranks = {});
// The verdict over all worker traces of a run.
std::string Verdict(const RunAnalysis& run);

// How busy the devices were, and the main cause of idle time or else the main work. Shorter than
// the sentence above if that says more.
std::string BriefVerdict(const TraceAnalysis& trace, const RankTable& ranks = {});
std::string BriefVerdict(const RunAnalysis& run);

// What the screen of a run says, of its only rank or of all ranks.
struct RunVerdict {
  std::string text, brief, caveat;
};
RunVerdict VerdictOf(const RunAnalysis& run);

}  // namespace tacho
