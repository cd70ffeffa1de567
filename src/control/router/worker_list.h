#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"

namespace tacho {

// An entry in a router's list of workers, before UnifyWorkers.
struct ListedWorker {
  std::string url;  // as in the list, including "@rank"
  WorkerRole role = WorkerRole::kRegular;
  bool healthy = true;
  bool grpc = false;
  bool zmq = false;                             // "ipc://..."
  std::string model = {};                       // "" if the list does not name it
  std::optional<int64_t> tensor_parallel = {};  // absent if the list does not say it
};

// Reads the body of GET /workers ({"workers":[{"url":...}]}) or of GET /list_workers
// ({"urls":[...]}) from any router. nullopt if it is not such a list. In an entry only `url` is
// required.
std::optional<std::vector<ListedWorker>> ParseWorkerList(std::string_view body);

// Reads a list of URLs from a file: URLs one a line ('#' starts a comment), a JSON array of URLs or
// of objects with a "url", Prometheus' file_sd ([{"targets":[...]}]), or a Kubernetes
// EndpointSlice, Endpoints or Pod, or a List of these, in JSON or YAML (without addresses that are
// not ready). nullopt for anything else.
std::optional<std::vector<ListedWorker>> ParseTargetList(std::string_view text);

// The two parts of "http://host:8000@3": the server and its data-parallel rank.
struct RankedUrl {
  std::string server;
  std::optional<int> rank;
};
RankedUrl SplitRank(std::string_view url);

// One Worker for each server, in the order of the list. Adds findings about entries that are left
// out or joined.
std::vector<Worker> UnifyWorkers(const std::vector<ListedWorker>& listed,
                                 const std::string& found_in, std::vector<Finding>& findings);

}  // namespace tacho
