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
  std::optional<OpenSession> open = {};  // the session that some tacho left running on it
  std::vector<int64_t> processes = {};   // the engine's processes, if they run on this host
  // Set by AskForLife. `dead`: why the worker is dead; "" if it is not known to be dead. `owner`:
  // the tacho that is profiling it.
  std::string dead = {};
  std::optional<std::string> owner = {};

  bool is_local() const { return !processes.empty(); }
  // Whether its profiler can be reached neither by HTTP nor by Kineto's daemon. The worker must
  // have answered.
  bool CannotProfile() const;
  // Whether nobody knows the folder to which a recording by HTTP would write. The worker must have
  // answered.
  bool LacksFolder() const;
};

// Asks all workers what they are (ProbeAll), and adds what this host knows about them: their
// processes, and sessions that a tacho left open. Changes nothing.
std::vector<ProbedWorker> ProbeWorkers(HttpClient& client, const std::vector<Worker>& workers,
                                       std::chrono::milliseconds patience, std::stop_token stop);

// Sets `dead` and `owner` of the workers that answered. Returns whether all of them are alive.
bool AskForLife(HttpClient& client, std::vector<ProbedWorker>& workers);

// The findings that say why workers cannot be profiled as they are.
std::vector<Finding> NeedsOf(const std::vector<ProbedWorker>& workers);
// All problems of the deployment and its workers.
std::vector<Finding> FindingsOf(const Deployment& deployment,
                                const std::vector<ProbedWorker>& workers);

}  // namespace tacho
