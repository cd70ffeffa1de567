#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "report/screen_parts.h"

namespace tacho {

// Tables that can be asked for whole, one flag of the command each.
enum class WholeTable : uint8_t {
  kKernels,
  kCategories,
  kOps,
  kLaunches,
  kCopies,
  kGaps,
  kRanks,
  kSteps,
  kDevices,
};

// The first screen: one trace in full, or the ranks of a run side by side and what they have in
// common.
std::string AnalyzeText(const RunAnalysis& run, const ScreenOptions& options);

// These tables with all their rows, one trace after the other.
std::string WholeTablesText(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                            const ScreenOptions& options);
// The same as GitHub tables, below kMarkdownLimit bytes if that can be: their rows are folded
// harder until they are.
std::string WholeTablesMarkdown(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                                const ScreenOptions& options);
// The tables without any row, for the names of their columns.
std::vector<Table> EmptyTables(const std::vector<WholeTable>& tables);

// The screens (trace_screen.cc, run_screen.cc).
// `ranks`: of the run that the trace is all of, for those that are missing.
std::string TraceScreen(const TraceAnalysis& trace, const RankTable& ranks,
                        const ScreenOptions& options);
std::string RunScreen(const RunAnalysis& run, const ScreenOptions& options);

// What the screen of a trace begins with, for the other reports.
// What the file is: rank, engine, device, size.
std::vector<std::string> HeaderParts(const TraceAnalysis& trace);
// Whether the figures can be believed, in figures.
std::vector<std::string> TrustParts(const TraceAnalysis& trace, const RankTable& ranks,
                                    const DeviceTotals& totals);
// "only 10.0 ms to 20.0 ms of the trace"; "" for the whole trace.
std::string ScopeText(const TraceAnalysis& trace);
// "929 pieces of GPU work, all linked to a launch; ..."; "" without GPU work.
std::string LaunchesText(const LaunchTable& launches);

// One line for each trace that is not among RanksOf(run) and each file that is no trace.
std::string OtherFilesText(const RunAnalysis& run, const TextStyle& style);
// Only the latter.
std::string SkippedText(const std::vector<std::string>& skipped, const TextStyle& style);

}  // namespace tacho
