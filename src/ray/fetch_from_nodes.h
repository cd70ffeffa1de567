#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "ray/cluster_access.h"
#include "ray/cluster_run.h"

namespace tacho {

struct NodeFile {
  std::string node;    // its name
  std::string path;    // absolute
  uint64_t bytes = 0;  // 0: unknown
};

struct FetchRequest {
  ClusterAccess access;
  std::vector<NodeFile> files;  // distinct
  ClusterPatience patience = {};
  SayNow say = [](const std::string&) {};
};

struct FetchedFiles {
  std::vector<std::string> files;    // on this host, in the order of the request: whole ones
  std::vector<Error> failures;       // sorted by message
  std::vector<std::string> remarks;  // sentences about what is left on the nodes
  uint64_t brought = 0;              // bytes that came
  size_t there_already = 0;          // files that an earlier call has fetched
};

// Where FetchFromNodes puts a file: FOLDER/NODE/PATH. kUsage: the name of the node or the path
// would lead out of the folder.
Result<std::string> PlaceOfFetched(const std::string& folder, const NodeFile& file);

// How many bytes of the files `folder` does not have yet, as far as sizes tell.
uint64_t BytesToCome(const std::vector<NodeFile>& files, const std::string& folder);

// Brings files of the nodes into `folder`, and compares their size and SHA-256. A file that is
// whole there is not fetched again. A transfer that was cut leaves FILE.part, and the next call
// brings the rest. Files of several nodes come one after the other. Needs no room on the nodes, but
// for the rest of a file whose transfer was cut. kInterrupted: `stop` was requested.
Result<FetchedFiles> FetchFromNodes(const FetchRequest& request, const std::string& folder,
                                    const std::stop_token& stop);
// The same with jobs of `run`, whose nodes are `nodes`, and which the caller clears. No node with
// these files may be cleared yet.
Result<FetchedFiles> FetchWithin(ClusterRun& run, const std::vector<RayNode>& nodes,
                                 const std::vector<NodeFile>& files, const std::string& folder,
                                 const SayNow& say, const std::stop_token& stop);

}  // namespace tacho
