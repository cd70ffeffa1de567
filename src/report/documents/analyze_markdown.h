#pragma once

#include <string>
#include <string_view>

#include "report/documents/report_parts.h"

namespace tacho {

// The report as GitHub Markdown, below kMarkdownLimit bytes however many traces there are: the
// number of rows per table is halved until all traces fit. If some traces do not fit even then, the
// last line says how many. `more` is put below the run's verdict and findings.
inline constexpr size_t kMarkdownLimit = 60'000;
inline constexpr std::string_view kMarkdownReportBegin = "## Where the time goes\n";
std::string AnalyzeMarkdown(const RunAnalysis& run, const ScreenOptions& options,
                            std::string_view version, Document more = {});

}  // namespace tacho
