#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"

namespace tacho {

// An entry of a router's list, before UnifyWorkers.
struct ListedWorker {
  std::string url;  // as in the list, with "@rank"
  WorkerRole role = WorkerRole::kRegular;
  bool healthy = true;
  bool grpc = false;
  bool zmq = false;                             // "ipc://..."
  std::string model = {};                       // "" if the list does not say
  std::optional<int64_t> tensor_parallel = {};  // as the list says
};

// The body of GET /workers ({"workers":[{"url":...}]}) or GET /list_workers ({"urls":[...]}) of any
// router. nullopt if it is not such a list; only `url` is required.
std::optional<std::vector<ListedWorker>> ParseWorkerList(std::string_view body);

// A file's list: URLs one a line ('#' starts a comment), a JSON array of URLs or of objects with a
// "url", Prometheus' file_sd ([{"targets":[...]}]), a Kubernetes EndpointSlice, Endpoints or Pod
// object or a List of them, in JSON or YAML (addresses that are not ready are left out). nullopt
// for anything else.
std::optional<std::vector<ListedWorker>> ParseTargetList(std::string_view text);

// "http://host:8000@3": the server and the data-parallel rank.
struct RankedUrl {
  std::string server;
  std::optional<int> rank;
};
RankedUrl SplitRank(std::string_view url);

// One Worker for each server, in order of url. Adds findings about entries left out or joined.
std::vector<Worker> UnifyWorkers(const std::vector<ListedWorker>& listed,
                                 const std::string& found_in, std::vector<Finding>& findings);

}  // namespace tacho
