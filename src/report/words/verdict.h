#pragma once

#include <string>

#include "analysis/analyze.h"

namespace tacho {

// One sentence that says where the time went, only from figures in these results: how busy the
// devices were, and the first two findings that are worth naming: "GPU busy 13.7 % of 84.5 ms; the
// host launched late for 75.0 % of the window". If the trace is its run's only one, `ranks` has the
// ranks of the run, so that missing ranks are reported. `requests`: the requests of the run.
std::string Verdict(const TraceAnalysis& trace, const RankTable& ranks = {},
                    const RequestAnalysis& requests = {});
// The verdict over all worker traces of a run.
std::string Verdict(const RunAnalysis& run);

// The verdict with only the first finding.
std::string BriefVerdict(const TraceAnalysis& trace, const RankTable& ranks = {},
                         const RequestAnalysis& requests = {});
std::string BriefVerdict(const RunAnalysis& run);

// The verdict that the screen of a run shows: of its only rank, or of all ranks.
struct RunVerdict {
  std::string text, brief, caveat;
};
RunVerdict VerdictOf(const RunAnalysis& run);

}  // namespace tacho
