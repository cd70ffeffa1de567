#pragma once

#include <string>
#include <string_view>

#include "report/documents/report_parts.h"

namespace tacho {

// The report as GitHub Markdown, below kMarkdownLimit bytes however many traces there are: the rows
// of its tables are halved until all traces fit; those that do not even so are counted in the last
// line. `more` stands below the verdict of the run.
inline constexpr size_t kMarkdownLimit = 60'000;
inline constexpr std::string_view kMarkdownReportBegin = "## Where the time goes\n";
std::string AnalyzeMarkdown(const RunAnalysis& run, const ScreenOptions& options,
                            std::string_view version, Document more = {});

}  // namespace tacho
