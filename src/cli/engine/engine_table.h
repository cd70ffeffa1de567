#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "control/engine.h"
#include "control/finding.h"
#include "control/live/discover.h"
#include "control/live/probed_workers.h"
#include "control/live/profile_control.h"
#include "text/table.h"

namespace tacho {

// One row per worker: what it is and whether it can be profiled.
Table WorkersTable(const std::vector<ProbedWorker>& workers);
// One row per worker: its answer to the request to start, to stop, ... The answer is never cut,
// because it may contain a command to copy. If the row is too narrow, the answer has its own line
// below.
std::string OutcomesText(const std::vector<ControlOutcome>& outcomes, const TextStyle& style);

// Which profiler interfaces the engine has: "http", "daemon", "daemon, http", or "off".
std::string ProfilerText(const EngineFacts& facts);

// Merges pairs (subject, words) that have the same words into one text: "SUBJECT and 2 others:
// WORDS". Keeps the order in which the words first appear.
std::vector<std::string> GroupedTexts(const std::vector<std::pair<std::string, std::string>>& said);
std::vector<std::string> GroupedTexts(const std::vector<Finding>& findings);

// What the two tables show, as a JSON object (schema 1) each, with all findings.
std::string DeploymentJson(const Deployment& deployment, const std::vector<ProbedWorker>& workers);
std::string OutcomesJson(const std::string& action, const std::vector<ControlOutcome>& outcomes);

}  // namespace tacho
