#pragma once

#include <string>

#include "report/screen_parts.h"

namespace tacho {

// The twelve sections of vime's and slime's tools/analyze_profile.py, in its order and under its
// titles, with figures that hold: docs/from-analyze-profile.md says what differs and why. Every
// worker trace in full, then, for more than one, the comparison. `options.top` is the number of
// kernels of section 4.
std::string ProfileSections(const RunAnalysis& run, const ScreenOptions& options);

// Sections 5 and 6: graph launches, steps, and where both lie in time (profile_graphs.cc).
std::string GraphSection(const TraceAnalysis& trace, const TextStyle& style);
std::string LocationsSection(const TraceAnalysis& trace, const TextStyle& style);

// Sections 10 and 11: what the checks found, and what each cost bounds (profile_checks.cc).
std::string BottleneckSection(const TraceAnalysis& trace, const TextStyle& style);
std::string CeilingSection(const TraceAnalysis& trace, const TextStyle& style);

// Section 12 (profile_ranks.cc).
std::string CrossRankSection(const RunAnalysis& run, const TextStyle& style);

// A label and its value on a line; "" when there is none.
std::string Fact(std::string_view label, const std::string& value);

// A table one column further in than on the screens.
std::string IndentedTable(const Table& table, const TextStyle& style);

// "== title ==" lines as the script has them.
std::string BigTitle(std::string_view title, const TextStyle& style);
std::string SmallTitle(std::string_view title, const TextStyle& style);

// Categories that are `prefix` or below it, added up.
CategoryRow CategoriesBelow(const KernelTable& kernels, std::string_view prefix);

}  // namespace tacho
