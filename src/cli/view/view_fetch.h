#pragma once

#include <stop_token>

#include "analysis/names/classifier.h"
#include "base/result.h"
#include "cli/view/view_options.h"

namespace tacho {

// Brings the traces of `tacho view --ray` here: those of plan.choice, which the nodes analyse
// first, because only a trace itself tells its rank. They go into --fetch-to or plan.folder. Sets
// plan.choice to what came and plan.of_nodes. Says on standard error how much comes and where to.
//
// kUsage: all ranks have more than 4 GB, and none was chosen; kOutput: the disk has too little
// room. Nothing was fetched then.
Result<void> FetchForView(const ViewOptions& options, const Classifier& classifier,
                          const std::stop_token& stop, ViewPlan& plan);

// Adds what the results of the nodes lack to what was read here.
void AddWhatNodesLack(const Readout<RunAnalysis>& of_nodes, Readout<RunAnalysis>& readout);

}  // namespace tacho
