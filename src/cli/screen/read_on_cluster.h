#pragma once

#include <string>
#include <vector>

#include "analysis/names/classifier.h"
#include "base/result.h"
#include "cli/screen/reading.h"

namespace tacho {

// kUsage: options that do not go with --ray, or one of `paths` is not absolute.
Result<void> CheckRayOptions(const ReadingArguments& o, const std::vector<std::string>& paths);

// ReadChosen for traces on the nodes of a Ray cluster: analyses them there, and brings the results
// together. The name of its node stands before the path of each trace. Nodes and paths that failed
// are failures of the run.
Result<Readout<RunAnalysis>> ReadOnCluster(ReadingArguments arguments, TraceChoice choice,
                                           const ReadOptions& reading,
                                           const Classifier& classifier);

}  // namespace tacho
