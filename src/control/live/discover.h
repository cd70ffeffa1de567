#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/engine.h"
#include "control/finding.h"
#include "net/http_client.h"

namespace tacho {

enum class RouterKind { kNone, kVllmRouter, kSglangRouter, kSmg, kOther };

// The servers of one deployment.
struct Deployment {
  RouterKind router_kind = RouterKind::kNone;
  std::string router_url;       // "" without a router
  std::vector<Worker> workers;  // unique, in the order of the router, the log or the list
  // What the user should know: dead workers in the list, duplicates, gRPC workers without an HTTP
  // port, a log with several routers.
  std::vector<Finding> findings;
};

// Finds the workers behind each target:
//   a URL: a router is asked for its list of workers (/workers, then /list_workers), because a
//     router that forwards all other paths to a worker looks just like an engine; any other server
//     is itself a worker;
//   a file: a launch log, or a list of URLs, one a line or as JSON (also in the form of a
//     Kubernetes EndpointSlice), with comments after '#'. In a log the last "Router launched at",
//     "Ports for engine", "Starting vLLM server on" or "Launch vLLM OpenAI api_server at" wins, and
//     hosts stay as they are in the log.
// Servers that the user named, as a target or in a file, are sent the client's key
// (HttpClient::NameServer); workers that a router names are not. kUsage: a target is neither a URL
// nor such a file; kUnreadable: a file cannot be read; kRemote: nothing answered.
Result<Deployment> Discover(HttpClient& client, const std::vector<std::string>& targets,
                            std::stop_token stop = {},
                            std::chrono::milliseconds patience = kProbePatience);

// Whether the user probably means a file by a target that does not exist: it has a '/' or ends in
// ".log", and is not a URL.
bool MayBeFile(const std::string& target);

}  // namespace tacho
