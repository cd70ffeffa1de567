#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/analyze/fetch_traces.h"
#include "cli/record/record_narrator.h"
#include "cli/record/record_options.h"
#include "session/recording.h"

namespace tacho {

// The Ray cluster of a recording with --ray.
struct RecordedCluster {
  ClusterAccess access;
  std::string options;                // --ray and --ray-program, as the user wrote them
  std::optional<RanksToFetch> fetch;  // absent: no trace is fetched
  std::vector<RayNode> nodes = {};    // set by FindTargets
};

// kUsage: options that do not go with --ray, or no program for the nodes.
Result<RecordedCluster> ClusterOf(const RecordArguments& arguments);

// Finds out whether the cluster answers, and which nodes it has. Returns `named`, or if that is
// empty, what the cluster has to record (ray/engine_actors.h).
Result<std::vector<std::string>> FindTargets(RecordedCluster& cluster,
                                             std::vector<std::string> named,
                                             const std::stop_token& stop);

// Analyses the recording's traces on the nodes where they lie, and writes the results into the run
// folder in place of the traces: traces/NODE.json. Sets the workers' files: "NODE:PATH". Brings the
// traces that are to be fetched to fetched/NODE/PATH. What is missing becomes a finding.
void AnalyseOnNodes(const RecordedCluster& cluster, Recording& recording, Narrator& narrator,
                    const std::stop_token& stop);

}  // namespace tacho
