#pragma once

#include <string_view>

#include "analysis/analyze.h"
#include "base/result.h"
#include "report/documents/report_parts.h"
#include "text/document.h"

namespace tacho {

// One finding of a run in full: its cost, the whole that the cost is a share of, where it lies, and
// the commands that show it. `which`: its id, or its number in the list, from 1. kUsage: there is
// no such finding; the message names the existing ones.
Result<Document> ExplainFinding(const RunAnalysis& run, std::string_view which,
                                const ScreenOptions& options);
// Whether a finding of the run has this id.
bool HasFinding(const RunAnalysis& run, std::string_view id);

}  // namespace tacho
