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
#include "report/table.h"

namespace tacho {

// A worker with what was learnt of it.
struct ProbedWorker {
  Worker worker;
  Result<EngineFacts> facts;
  std::optional<OpenSession> open;  // that a tacho left running
};

// One row a worker: what it is and whether it can be profiled.
Table WorkersTable(const std::vector<ProbedWorker>& workers);
// One row a worker: what it said to a start, a stop, ...; whole, and below the rows where the line
// is too narrow, for it may be a remedy.
std::string OutcomesText(const std::vector<ControlOutcome>& outcomes, const TextStyle& style);

// "http" or "daemon, http", "off" with the reason left to the notes.
std::string ProfilerText(const EngineFacts& facts);

// The same as one JSON object, schema 1.
std::string DeploymentJson(const Deployment& deployment, const std::vector<ProbedWorker>& workers);
std::string OutcomesJson(const std::string& action, const std::vector<ControlOutcome>& outcomes);

}  // namespace tacho
