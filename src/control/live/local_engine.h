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

// Adds what the processes of an engine on this host show about its profiler and the engine does not
// report: whether they ask Kineto's daemon, vLLM's configuration from its command line, which
// process it is, and that its clock is ours.
void AddLocalFacts(const std::vector<int64_t>& pids, EngineFacts& facts);

// The file that standard error or output of the first of them goes to that has one: the engine's
// log. "" when they write to a terminal or a pipe.
std::string LogFileOf(const std::vector<int64_t>& pids);

// Where they look for the daemon: the KINETO_IPC_SOCKET_DIR of the first that has one; "" for the
// abstract name.
std::string DaemonSocketFolder(const std::vector<int64_t>& pids);

// The folder that their Kineto restricts a daemon's traces to: the KINETO_ONDEMAND_TRACE_DIR of the
// first that has one; "": none.
std::string DaemonTraceFolder(const std::vector<int64_t>& pids);

// How an engine of this host was started, for CheckLaunch: from the first of `pids`, or of their
// ancestors, whose command line is that of an engine. nullopt if none is, or may be read.
struct LocalCommand {
  int64_t pid = 0;
  EngineKind kind = EngineKind::kUnknown;
  std::vector<std::string> words, environment;
};
std::optional<LocalCommand> CommandLineOf(const std::vector<int64_t>& pids);

// What is wrong with the way in which they were started (CheckLaunch); empty if that is not seen.
std::vector<Finding> CheckLaunchOf(const std::vector<int64_t>& pids, const EngineFacts& facts);

// The servers of engines on this host that this user may see: "http://127.0.0.1:8000", ascending
// by port, at most 64. Cost: a look at every process.
std::vector<std::string> LocalEngineUrls();

}  // namespace tacho
