#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/summary.h"
#include "report/documents/report_parts.h"

namespace tacho {

std::string SummaryText(const RunSummary& run, const ScreenOptions& options);
// The summary as JSON: "summary": true, and some of the fields that AnalyzeJson writes, under the
// same names. `incomplete`: sentences that say what is missing.
std::string SummaryJson(const RunSummary& run, std::string_view version,
                        const std::vector<std::string>& incomplete);

}  // namespace tacho
