#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"
#include "control/live/session_lock.h"
#include "launch/plan_launch.h"

namespace tacho {

// --python PATH
OptionRow PythonRow(std::string& python);

// How an engine is launched, for every command that launches one.
struct EngineArguments {
  std::vector<std::string> words;  // after "--": the engine's own
  std::string python, preset = "light";
  std::vector<std::string> environment;
  std::optional<int64_t> replicas, port;
  bool log_requests = false, force = false;
  std::string ready_within = "10m";

  std::vector<OptionRow> Rows();
};

// The command line of `tacho launch`.
struct LaunchArguments {
  std::vector<std::string> words;  // "vllm", "sglang", "list", or "stop" and names
  EngineArguments engine;
  std::string name, out = ".";
  bool dry_run = false, detach = false, json = false, quiet = false;
};
CommandSpec LaunchSpec(LaunchArguments& arguments);

// Settings before the engine's words ("CUDA_VISIBLE_DEVICES=0 vllm serve") become its environment;
// they are returned.
std::vector<std::string> MoveSettings(EngineArguments& engine);

// kUsage: neither vllm nor sglang.
Result<EngineKind> ParseEngine(const std::string& name);

// The port of an engine that is given none.
uint16_t UsualPort(EngineKind kind);
// Who has a port that is not free: "process 7 listens on it: vllm serve ...".
std::string ListenerOn(uint16_t port);

struct PlanOfHere {
  PlannedLaunch plan;
  std::vector<SessionLock> held;  // of its ports, until the servers listen on them
};

// The plan for this host: the installed engine and its version, free ports, its GPUs. `folder` gets
// logs and traces, and need not exist yet. `session`: of the preset nsys. Starts nothing but a
// Python that is asked for the version. kUsage: it is not installed, options fight each other or do
// not fit that version (unless `force`), a port is taken, with who holds it. kOutput: there is no
// room for logs or traces. kInterrupted.
Result<PlanOfHere> PlanHere(EngineKind kind, const EngineArguments& arguments,
                            const std::string& folder, const std::string& session);

// Where a launch that begins now has its logs and traces: "OUT/tacho-launch-NAME-20261124-160239".
std::string LaunchFolderFor(const std::string& out, const std::string& name);
// Makes that folder, or one with a number after it: two may begin in the same second. kOutput.
Result<std::string> MakeLaunchFolder(const std::string& path);
// Removes what a launch that did not begin has left in it: logs without a byte, and empty folders.
void RemoveEmptyParts(const std::string& folder);

}  // namespace tacho
