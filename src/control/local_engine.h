#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/engine.h"

namespace tacho {

// The processes of an engine whose server listens on a loopback address of this host: the server
// with all its descendants, ascending. Empty for others, and where /proc may not be read.
std::vector<int64_t> LocalProcesses(const Worker& worker);

// Whether one of them was started with KINETO_USE_DAEMON=1, and so asks for traces to take.
bool AsksDaemon(const std::vector<int64_t>& pids);

// Where they look for the daemon: the KINETO_IPC_SOCKET_DIR of the first that has one; "" for the
// abstract name.
std::string DaemonSocketFolder(const std::vector<int64_t>& pids);

}  // namespace tacho
