#pragma once

#include <chrono>
#include <stop_token>
#include <vector>

#include "cli/engine/engine_table.h"
#include "net/http_client.h"

namespace tacho {

// Asks all workers what they are (ProbeAll), and adds what this host knows of them:
// their processes, and the sessions that a tacho has left open. Changes nothing.
std::vector<ProbedWorker> ProbeWorkers(HttpClient& client, const std::vector<Worker>& workers,
                                       std::chrono::milliseconds patience, std::stop_token stop);

// Sets why those that answered are dead, and which tacho profiles them. Whether all live.
bool AskForLife(HttpClient& client, std::vector<ProbedWorker>& workers);

}  // namespace tacho
