#pragma once

#include <string>
#include <string_view>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"

namespace tacho {

// Findings in words: the same words wherever a finding is shown.

// A sentence without capital and full stop: "the host launched late for at least 30.0 % of the
// window"; of a finding that cannot be told: what cannot be told, and why.
std::string FindingText(const RunAnalysis& run, const RunFinding& finding);
// The same for a finding of FindingsOf(trace). `ranks`: as for Verdict.
std::string FindingText(const TraceAnalysis& trace, const RankTable& ranks,
                        const RunFinding& finding);

// What the cost of the finding is a share of: "the window".
std::string WholeText(const RunFinding& finding);
// "at least "; "" if the cost is exact.
std::string_view BoundText(Confidence confidence);
// What is lost, in general, as a line below its figures.
std::string MeaningOf(const RunFinding& finding);
// How sure the cost is, and why not more.
std::string_view WhyBounded(const RunFinding& finding);
// The command that shows it in full. `paths`: as shell words.
std::string CommandOf(const RunFinding& finding, std::string_view paths);

}  // namespace tacho
