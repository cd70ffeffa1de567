#pragma once

#include <string_view>

#include "analysis/analyze.h"
#include "base/result.h"
#include "report/documents/report_parts.h"
#include "text/document.h"

namespace tacho {

// One finding of a run in full: its cost, what it is a share of, where it lies, what shows it.
// `which`: its id, or its place in the list from 1 on. kUsage: there is no such finding; names
// those that there are.
Result<Document> ExplainFinding(const RunAnalysis& run, std::string_view which,
                                const ScreenOptions& options);
// Whether a finding of the run has this id.
bool HasFinding(const RunAnalysis& run, std::string_view id);

}  // namespace tacho
