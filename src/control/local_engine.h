#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/engine.h"

namespace tacho {

// The processes of an engine whose server listens on a loopback address of this host: the server
// with all its descendants, ascending. Empty for other servers, and if /proc may not be read.
std::vector<int64_t> LocalProcesses(const Worker& worker);

// Adds what the processes of an engine on this host show about its profiler and the engine does not
// report: whether they ask Kineto's daemon, vLLM's configuration from its command line, and which
// process it is.
void AddLocalFacts(const std::vector<int64_t>& pids, EngineFacts& facts);

// The file that standard error or output of the first of them goes to that has one: the engine's
// log. "" when they write to a terminal or a pipe.
std::string LogFileOf(const std::vector<int64_t>& pids);

// Where they look for the daemon: the KINETO_IPC_SOCKET_DIR of the first that has one; "" for the
// abstract name.
std::string DaemonSocketFolder(const std::vector<int64_t>& pids);

}  // namespace tacho
