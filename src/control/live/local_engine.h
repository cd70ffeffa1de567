#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"

namespace tacho {

// The processes of an engine whose server listens on a loopback address of this host: the server
// and all its descendants, ascending. Empty for other servers, or if /proc may not be read.
std::vector<int64_t> LocalProcesses(const Worker& worker);

// Adds what the engine does not report but its processes on this host show: whether they poll
// Kineto's daemon, vLLM's profiler configuration and the number formats from the command line,
// which process it is, and that its clock is ours.
void AddLocalFacts(const std::vector<int64_t>& pids, EngineFacts& facts);

// The engine's log: the file that receives the standard error or output of the first process that
// writes to a file. "" if all of them write to a terminal or a pipe.
std::string LogFileOf(const std::vector<int64_t>& pids);

// Where the processes look for the daemon's socket: the KINETO_IPC_SOCKET_DIR of the first process
// that has it; "" means the abstract name.
std::string DaemonSocketFolder(const std::vector<int64_t>& pids);

// The folder below which Kineto in these processes lets a daemon put traces: the
// KINETO_ONDEMAND_TRACE_DIR of the first process that has it; "" if none has it.
std::string DaemonTraceFolder(const std::vector<int64_t>& pids);

// How an engine on this host was started, as input for CheckLaunch. Taken from the first process
// whose command line starts an engine: among `pids`, else among the server's ancestors. nullopt if
// there is none that can be read.
struct LocalCommand {
  int64_t pid = 0;
  EngineKind kind = EngineKind::kUnknown;
  std::vector<std::string> words, environment;
};
std::optional<LocalCommand> CommandLineOf(const std::vector<int64_t>& pids);

// What is wrong with the way the processes were started (CheckLaunch); empty if their command line
// cannot be seen.
std::vector<Finding> CheckLaunchOf(const std::vector<int64_t>& pids, const EngineFacts& facts);

// The URLs of the engines on this host that this user may see: "http://127.0.0.1:8000", ascending
// by port, at most 64. Cost: looks at every process.
std::vector<std::string> LocalEngineUrls();

}  // namespace tacho
