#pragma once

#include <string>
#include <vector>

#include "analysis/compare/run_changes.h"
#include "text/table.h"

namespace tacho {

// Comparisons as tables, with the columns base, new, change and the change's bounds.

// A row for each figure of the steps of each phase.
Table ChangedStepsTable(const RunChanges& changes);
// The parts of a step that engines and GPUs have in common: "busy" and the causes of idle time.
std::vector<NamedChange> BusyAndIdle(const std::vector<NamedChange>& parts);
// Whether `bar` has a row of its own on the screen: the part changed beyond noise, or the bar is
// the effect of another mix of batches and is large.
bool StandsOut(const Waterfall::Bar& bar, const Waterfall& fall);
// The parts of a step or a recording; parts that stand out come first. Their changes add up to the
// change of the whole.
Table WaterfallTable(const Waterfall& fall, const std::vector<NamedChange>& parts,
                     std::string name);
enum class ShownKernels : uint8_t { kChanged, kAll };  // kChanged: beyond noise
Table ChangedKernelsTable(const std::vector<KernelChange>& kernels, std::string name,
                          const TextStyle& style, ShownKernels which);
// The blocks of the model, then the gaps before the work of all blocks: these rows add up to the
// change from the first to the last work of a step. Blocks that changed beyond noise come first.
Table ChangedBlocksTable(const BlocksChange& blocks, std::string name);
// Figures without bounds; `unit`: kNumber or kDuration. Figures that changed by less than half a
// percent are left out.
Table ChangedFiguresTable(const std::vector<NamedChange>& figures, std::string name,
                          std::string title, Unit unit);
// The figures of the load: latencies in one table, plain numbers in the other.
Table ChangedLoadTimesTable(const std::vector<NamedChange>& load);
Table ChangedLoadNumbersTable(const std::vector<NamedChange>& load);
// All figures of the comparison by name (analysis/compare/metrics.h).
Table MetricsTable(const RunChanges& changes);

}  // namespace tacho
