#pragma once

#include <string>

#include "report/screen_parts.h"

namespace tacho {

// The twelve sections of vime's and slime's tools/analyze_profile.py, in its order and under its
// titles, with figures that hold: docs/from-analyze-profile.md says what differs and why. Every
// worker trace in full, then, for more than one, the comparison. `options.top` is the number of
// kernels of section 4.
std::string ProfileSections(const RunAnalysis& run, const ScreenOptions& options);

// Sections 10 and 11: what the checks found, and what each cost bounds (profile_checks.cc).
std::string BottleneckSection(const TraceAnalysis& trace, const TextStyle& style);
std::string CeilingSection(const TraceAnalysis& trace, const TextStyle& style);

// Section 12 (profile_ranks.cc).
std::string CrossRankSection(const RunAnalysis& run, const TextStyle& style);

// A table one column further in than on the screens.
std::string IndentedTable(const Table& table, const TextStyle& style);

// "== title ==" lines as the script has them.
std::string BigTitle(std::string_view title, const TextStyle& style);
std::string SmallTitle(std::string_view title, const TextStyle& style);

// Categories that are `prefix` or below it, added up.
CategoryRow CategoriesBelow(const KernelTable& kernels, std::string_view prefix);

// Host calls that launch a graph, all added up; count 0 when there is none. The percentiles are
// those of the call with the most time.
DurationStats GraphLaunchCalls(const LaunchTable& launches);

}  // namespace tacho
