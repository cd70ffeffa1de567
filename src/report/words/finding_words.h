#pragma once

#include <string>
#include <string_view>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"

namespace tacho {

// Findings in words: the same words wherever a finding is shown.

// A sentence without capital and full stop: "the host launched late for at least 30.0 % of the
// window". If the cost is unknown, the sentence says what is unknown, and why.
std::string FindingText(const RunAnalysis& run, const RunFinding& finding);
// The sentence for a finding of FindingsOf(trace). `ranks`: as for Verdict.
std::string FindingText(const TraceAnalysis& trace, const RankTable& ranks,
                        const RunFinding& finding);

// The whole that the finding's cost is a share of: "the window".
std::string WholeText(const RunFinding& finding);
// The words before a cost: "at least ", "at most " or "about "; "" if the cost is exact.
std::string_view BoundText(Confidence confidence);
// What this kind of loss means, as a line below the finding's figures.
std::string MeaningOf(const RunFinding& finding);
// How certain the cost is ("at least", ...), and what makes it uncertain.
std::string_view WhyBounded(const RunFinding& finding);
// The command that shows the finding in full. `paths`: the paths as shell words.
std::string CommandOf(const RunFinding& finding, std::string_view paths);

}  // namespace tacho
