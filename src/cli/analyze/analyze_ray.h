#pragma once

#include "analysis/names/classifier.h"
#include "base/result.h"
#include "cli/analyze/analyze_command.h"

namespace tacho {

// kUsage: options that do not go with --ray, or a path that is not absolute.
Result<void> CheckRayOptions(const AnalyzeOptions& options);

// Analyses the traces on the nodes of the cluster and brings the results together. The name of its
// node stands before the path of each trace. Nodes and paths that failed are failures of the run.
Result<Readout<RunAnalysis>> ReadOnCluster(const AnalyzeOptions& options, TraceChoice choice,
                                           const Classifier& classifier);

}  // namespace tacho
