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
  std::optional<OpenSession> open = {};  // the session that a tacho left running
  std::vector<int64_t> processes = {};   // the engine's, on this host
  // Set by AskForLife: why the worker is dead ("" if it is not known to be), and the tacho that
  // profiles it.
  std::string dead = {};
  std::optional<std::string> owner = {};

  bool is_local() const { return !processes.empty(); }
  // Whether its profiler can be reached neither by HTTP nor by a daemon. The worker must have
  // answered.
  bool CannotProfile() const;
  // Whether the folder of a recording by HTTP is unknown. The worker must have answered.
  bool LacksFolder() const;
};

// Asks all workers what they are (ProbeAll), and adds what this host knows of them:
// their processes, and the sessions that a tacho has left open. Changes nothing.
std::vector<ProbedWorker> ProbeWorkers(HttpClient& client, const std::vector<Worker>& workers,
                                       std::chrono::milliseconds patience, std::stop_token stop);

// Sets `dead` and `owner` of the workers that answered. Returns whether all of these are alive.
bool AskForLife(HttpClient& client, std::vector<ProbedWorker>& workers);

// Why some workers cannot be profiled as they are.
std::vector<Finding> NeedsOf(const std::vector<ProbedWorker>& workers);
// All problems of the deployment and its workers.
std::vector<Finding> FindingsOf(const Deployment& deployment,
                                const std::vector<ProbedWorker>& workers);

}  // namespace tacho
