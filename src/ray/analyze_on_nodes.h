#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "ray/cluster_access.h"
#include "ray/cluster_run.h"
#include "ray/fetch_from_nodes.h"
#include "ray/found_files.h"

namespace tacho {

struct ClusterResults;

struct ClusterRequest {
  ClusterAccess access;
  std::vector<std::string> paths;    // absolute, as the nodes have them
  std::vector<std::string> options;  // words of `tacho analyze`, for each node
  std::optional<int64_t> threads;    // of each node; absent: as many as it has cores
  ClusterPatience patience = {};
  // Which of the files below the paths are analysed; absent: all. Called for each file of each
  // node.
  std::function<bool(const RayNode&, const FoundFile&)> wanted = {};
  // Called with the results: which files are then fetched into `fetch_to`. Its error is that of
  // AnalyzeOnNodes. Empty: none are fetched.
  std::function<Result<std::vector<NodeFile>>(const ClusterResults&)> to_fetch = {};
  std::string fetch_to = {};
  // Called with what happens now: "listing the files of 3 nodes".
  SayNow say = [](const std::string&) {};
};

struct NodeResults {
  std::string node;  // its name
  std::string file;  // on this host: what `tacho analyze --json` wrote there
};

struct ClusterResults {
  std::vector<NodeResults> results;  // at least one, sorted by node
  std::vector<Error> failures;       // nodes and paths that are missing in the results
  // Sentences about what makes the results no less complete: nodes without the paths, dead nodes.
  std::vector<std::string> remarks;
  FetchedFiles fetched = {};  // its failures are not among `failures`
};

// Analyses the traces of a Ray cluster on the nodes that have them, and brings the results into
// `folder`. Each node runs a job that lists its files, and analyses them at once if all lie on its
// own disks (AreOwnFiles). A second job on a node analyses files that it shares with others, or
// some of its files. One more offers the files that are fetched. Fails if no node has results;
// kInterrupted: `stop` was requested. In any case no job and no file of a run is left on living
// nodes, but for the package, which Ray keeps in its cache; what could not be removed is named in
// the remarks or in the error.
//
// Memory: what MemoryFor allows (node_memory.h), as a limit of the address space.
Result<ClusterResults> AnalyzeOnNodes(const ClusterRequest& request, const std::string& folder,
                                      const std::stop_token& stop);

}  // namespace tacho
