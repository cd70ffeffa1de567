#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/engine.h"
#include "control/finding.h"
#include "control/live/discover.h"
#include "control/live/open_session.h"
#include "control/live/probe.h"
#include "net/http_client.h"

namespace tacho {

// A worker and what is known about it.
struct ProbedWorker {
  Worker worker;
  Result<EngineFacts> facts;
  std::optional<OpenSession> open = {};  // that a tacho left running
  std::vector<int64_t> processes = {};   // its own on this host
  // For `status`: why it is dead ("" if it is not known to be), and the tacho that profiles it.
  std::string dead = {};
  std::optional<std::string> owner = {};

  bool is_local() const { return !processes.empty(); }
  // No profiler can be reached, neither by HTTP nor by a daemon. It answered.
  bool CannotProfile() const;
  // Whether the folder of a recording by HTTP is unknown. It answered.
  bool LacksFolder() const;
};

// Asks all workers what they are (ProbeAll), and adds what this host knows of them:
// their processes, and the sessions that a tacho has left open. Changes nothing.
std::vector<ProbedWorker> ProbeWorkers(HttpClient& client, const std::vector<Worker>& workers,
                                       std::chrono::milliseconds patience, std::stop_token stop);

// Sets why those that answered are dead, and which tacho profiles them. Whether all live.
bool AskForLife(HttpClient& client, std::vector<ProbedWorker>& workers);

// Why some cannot be profiled as they are.
std::vector<Finding> NeedsOf(const std::vector<ProbedWorker>& workers);
// All that is known against the deployment and its workers.
std::vector<Finding> FindingsOf(const Deployment& deployment,
                                const std::vector<ProbedWorker>& workers);

}  // namespace tacho
