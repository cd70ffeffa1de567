#pragma once

#include <string>

#include "analysis/analyze.h"

namespace tacho {

// One sentence that says where the time went, made of figures of these results only: how busy the
// devices were, and the first two findings that are worth naming:
// "GPU busy 13.7 % of 84.5 ms; the host launched late for 75.0 % of the window".
// `ranks`: the ranks of the trace's run, if the run has no other trace; reports the missing ones.
// `requests`: of the run.
std::string Verdict(const TraceAnalysis& trace, const RankTable& ranks = {},
                    const RequestAnalysis& requests = {});
// The verdict over all worker traces of a run.
std::string Verdict(const RunAnalysis& run);

// The same with the first finding alone.
std::string BriefVerdict(const TraceAnalysis& trace, const RankTable& ranks = {},
                         const RequestAnalysis& requests = {});
std::string BriefVerdict(const RunAnalysis& run);

// What the screen of a run says, of its only rank or of all ranks.
struct RunVerdict {
  std::string text, brief, caveat;
};
RunVerdict VerdictOf(const RunAnalysis& run);

}  // namespace tacho
