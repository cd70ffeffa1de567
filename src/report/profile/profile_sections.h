#pragma once

#include <string>

#include "report/documents/report_parts.h"

namespace tacho {

// The twelve sections of vime's and slime's tools/analyze_profile.py, in its order and under its
// titles, with figures that hold: docs/from-analyze-profile.md says what differs and why. Every
// worker trace in full, then, for more than one, the comparison. `options.top` is the number of
// kernels of section 4.
std::string ProfileText(const RunAnalysis& run, const ScreenOptions& options);

// The column layout of that script.
inline constexpr TextLayout kScriptLayout{2, 22, Paint::kPlain};

// Sections 5 and 6: graph launches, steps, and where both lie in time (profile_graphs.cc).
void AddGraphs(Document& document, const TraceAnalysis& trace);
void AddGraphLocations(Document& document, const TraceAnalysis& trace);

// Sections 10 and 11: what the checks found, and the ceilings (profile_checks.cc).
void AddBottlenecks(Document& document, const TraceAnalysis& trace);
void AddCeilings(Document& document, const TraceAnalysis& trace);

// Section 12 (profile_ranks.cc).
void AddCrossRank(Document& document, const RunAnalysis& run);

// A fact without a value is not shown.
void AddFact(Document& document, std::string label, std::string value);
void AddTitle(Document& document, std::string title);
void AddSection(Document& document, std::string title);
void AddLine(Document& document, std::string line);

// Categories that are `prefix` or below it, added up.
CategoryRow CategoriesBelow(const KernelTable& kernels, std::string_view prefix);

}  // namespace tacho
