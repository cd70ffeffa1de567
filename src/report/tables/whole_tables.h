#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "report/documents/report_parts.h"

namespace tacho {

// Tables that `tacho analyze` prints with all their rows, one flag for each.
enum class WholeTable : uint8_t {
  kKernels,
  kCategories,
  kOps,
  kLaunches,
  kCopies,
  kMemory,
  kGaps,
  kRanks,
  kRequests,
  kFindings,
  kSteps,
  kLayers,
  kRoofline,
  kDevices,
};

// These tables with all their rows, one trace after the other.
std::string WholeTablesText(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                            const ScreenOptions& options);
// The same tables in GitHub Markdown, below kMarkdownLimit bytes if possible: more and more rows
// are folded until they fit.
std::string WholeTablesMarkdown(const RunAnalysis& run, const std::vector<WholeTable>& tables,
                                const ScreenOptions& options);
// The tables without rows, from which the names of their columns are read.
std::vector<Table> EmptyTables(const std::vector<WholeTable>& tables);

}  // namespace tacho
