#pragma once

#include <string>

#include "report/documents/report_parts.h"

namespace tacho {

// The twelve sections that tools/analyze_profile.py of vime and slime prints, in its order and
// under its titles, but with correct figures: docs/from-analyze-profile.md says what differs and
// why. Shows every worker trace in full, then, if there are several, their comparison.
// `options.top` is the number of kernels in section 4.
std::string ProfileText(const RunAnalysis& run, const ScreenOptions& options);

// The column layout of analyze_profile.py.
inline constexpr TextLayout kScriptLayout{2, 22, Paint::kPlain};

// Sections 5 and 6: graph launches, steps, and where both lie in time (profile_graphs.cc).
void AddGraphs(Document& document, const TraceAnalysis& trace);
void AddGraphLocations(Document& document, const TraceAnalysis& trace);

// Sections 10 and 11: what the checks found, and how much could be gained at most
// (profile_checks.cc).
void AddBottlenecks(Document& document, const TraceAnalysis& trace);
void AddCeilings(Document& document, const TraceAnalysis& trace);

// Section 12 (profile_ranks.cc).
void AddCrossRank(Document& document, const RunAnalysis& run);

// Adds nothing if `value` is empty.
void AddFact(Document& document, std::string label, std::string value);
void AddTitle(Document& document, std::string title);
void AddSection(Document& document, std::string title);
void AddLine(Document& document, std::string line);

// The sum of the categories that are `prefix` or below it ("comm" has "comm.all_reduce" below it).
CategoryRow CategoriesBelow(const KernelTable& kernels, std::string_view prefix);

}  // namespace tacho
