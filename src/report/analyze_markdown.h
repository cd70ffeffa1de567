#pragma once

#include <string>

#include "report/screen_parts.h"

namespace tacho {

// The report as GitHub Markdown, below kMarkdownLimit bytes however many traces there are: what
// does not fit is counted in the last line.
inline constexpr size_t kMarkdownLimit = 60'000;
std::string AnalyzeMarkdown(const RunAnalysis& run, const ScreenOptions& options,
                            std::string_view version);

}  // namespace tacho
