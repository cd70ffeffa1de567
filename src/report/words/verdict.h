#pragma once

#include <string>

#include "analysis/analyze.h"

namespace tacho {

// One sentence that says where the time went, made of figures of these results only.
// "GPU busy 13.7 % of 84.5 ms; the host launched late for 71.0 % of the idle time".
// `ranks`: of the run that the trace is all of, for those that are missing.
std::string Verdict(const TraceAnalysis& trace, const RankTable& ranks = {});
// The same over the worker traces of a run.
std::string Verdict(const RunAnalysis& run);

// How busy the devices were and what most of the idle time is caused by, or else what they did:
// shorter if the sentence above says more.
std::string BriefVerdict(const TraceAnalysis& trace, const RankTable& ranks = {});
std::string BriefVerdict(const RunAnalysis& run);

// What the screen of a run says, of its only rank or of all ranks.
struct RunVerdict {
  std::string text, brief, caveat;
};
RunVerdict VerdictOf(const RunAnalysis& run);

}  // namespace tacho
