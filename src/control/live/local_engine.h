#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"

namespace tacho {

// The processes of an engine whose server listens on a loopback address of this host: the server
// with all its descendants, ascending. Empty for other servers, and if /proc may not be read.
std::vector<int64_t> LocalProcesses(const Worker& worker);

// Adds what the engine does not report but its processes on this host show: whether they ask
// Kineto's daemon, vLLM's profiler configuration from its command line, which process it is, and
// that its clock is ours.
void AddLocalFacts(const std::vector<int64_t>& pids, EngineFacts& facts);

// The engine's log: the file that receives standard error or output of the first process that
// writes to a file. "" if all write to a terminal or a pipe.
std::string LogFileOf(const std::vector<int64_t>& pids);

// Where the processes look for the daemon: the KINETO_IPC_SOCKET_DIR of the first that has one; ""
// for the abstract name.
std::string DaemonSocketFolder(const std::vector<int64_t>& pids);

// The folder to which Kineto in these processes restricts a daemon's traces: the
// KINETO_ONDEMAND_TRACE_DIR of the first that has one; "": none.
std::string DaemonTraceFolder(const std::vector<int64_t>& pids);

// How an engine of this host was started, for CheckLaunch: from the first of `pids`, or of their
// ancestors, whose command line starts an engine. nullopt if no such process can be read.
struct LocalCommand {
  int64_t pid = 0;
  EngineKind kind = EngineKind::kUnknown;
  std::vector<std::string> words, environment;
};
std::optional<LocalCommand> CommandLineOf(const std::vector<int64_t>& pids);

// What is wrong with the way in which the processes were started (CheckLaunch); empty if their
// command line cannot be seen.
std::vector<Finding> CheckLaunchOf(const std::vector<int64_t>& pids, const EngineFacts& facts);

// The servers of engines on this host that this user may see: "http://127.0.0.1:8000", ascending
// by port, at most 64. Cost: a look at every process.
std::vector<std::string> LocalEngineUrls();

}  // namespace tacho
