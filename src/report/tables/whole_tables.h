#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "report/documents/report_parts.h"

namespace tacho {

// Tables that `tacho analyze` prints with all their rows, in the order in which it prints them.
enum class WholeTable : uint8_t {
  kFindings,
  kRanks,
  kRequests,
  kSteps,
  kGraphs,
  kLayers,
  kRoofline,
  kSources,
  kDevices,
  kCategories,
  kKernels,
  kOps,
  kCopies,
  kMemory,
  kLaunches,
  kGaps,
};
// The flag that asks for a table, and what its help says.
struct WholeTableFlag {
  WholeTable table;
  const char* flag;
  const char* shows;
};
inline constexpr WholeTableFlag kWholeTableFlags[] = {
    {WholeTable::kFindings, "--findings",
     "what the time was lost to, dearest first (tacho explain shows each)"},
    {WholeTable::kKernels, "--kernels", "kernels by name"},
    {WholeTable::kCategories, "--categories", "kernel time by category"},
    {WholeTable::kOps, "--ops", "host operators, and by input shape where recorded"},
    {WholeTable::kSteps, "--steps", "engine steps"},
    {WholeTable::kGraphs, "--graphs", "replayed CUDA and HIP graphs, and the main one by node"},
    {WholeTable::kLayers, "--layers", "layers of the model and their blocks, by phase"},
    {WholeTable::kRoofline, "--roofline", "phases and blocks beside the limits of the hardware"},
    {WholeTable::kSources, "--sources",
     "the Python code that launches each kernel, where stacks were recorded or with --stacks-from"},
    {WholeTable::kGaps, "--gaps", "idle time by cause, and the longest gaps"},
    {WholeTable::kLaunches, "--launches", "launches, host calls and queues"},
    {WholeTable::kCopies, "--copies", "copies and memsets"},
    {WholeTable::kMemory, "--memory", "memory by device, and all that was alive at the peaks"},
    {WholeTable::kDevices, "--devices", "devices, streams and what runs together"},
    {WholeTable::kRanks, "--ranks", "the ranks of a run side by side"},
    {WholeTable::kRequests, "--requests",
     "what the time of each request went to, the slowest first; of a run folder of tacho record"},
};
inline constexpr size_t kWholeTables = std::size(kWholeTableFlags);

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
