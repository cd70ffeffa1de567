#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/discover.h"
#include "control/engine.h"
#include "control/open_session.h"
#include "control/probe.h"
#include "control/profile_control.h"
#include "text/table.h"

namespace tacho {

// A worker with what was learnt of it.
struct ProbedWorker {
  Worker worker;
  Result<EngineFacts> facts;
  std::optional<OpenSession> open = {};  // that a tacho left running
  bool local = false;                    // its processes are of this host
  // Of `status`: why it is dead ("" where it is not known to be), and the tacho that profiles it.
  std::string dead = {};
  std::optional<std::string> owner = {};

  // Nobody says where a recording by HTTP would write.
  bool LacksFolder() const;
};

// One row a worker: what it is and whether it can be profiled.
Table WorkersTable(const std::vector<ProbedWorker>& workers);
// One row a worker: what it said to a start, a stop, ...; whole, and where the line is too narrow
// on one of its own below the row: it may have a command to be copied.
std::string OutcomesText(const std::vector<ControlOutcome>& outcomes, const TextStyle& style);

// "http" or "daemon, http", "off" with the reason left to the notes.
std::string ProfilerText(const EngineFacts& facts);

// The same as one JSON object, schema 1.
std::string DeploymentJson(const Deployment& deployment, const std::vector<ProbedWorker>& workers);
std::string OutcomesJson(const std::string& action, const std::vector<ControlOutcome>& outcomes);

}  // namespace tacho
