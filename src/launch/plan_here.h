#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/live/session_lock.h"
#include "launch/plan_launch.h"

namespace tacho {

// How an engine is launched, for every command that launches one.
struct EngineArguments {
  std::vector<std::string> words;  // after "--": the engine's own
  std::string python, preset = "light";
  std::vector<std::string> environment;
  std::optional<int64_t> replicas, port;
  bool log_requests = false, force = false;
  std::string ready_within = "10m";
};

// Settings before the engine's words ("CUDA_VISIBLE_DEVICES=0 vllm serve") become its environment;
// they are returned.
std::vector<std::string> MoveSettings(EngineArguments& engine);

// The port of an engine that is given none.
uint16_t UsualPort(EngineKind kind);
// Who has a port that is not free: "process 7 listens on it: vllm serve ...".
std::string ListenerOn(uint16_t port);

struct PlanOfHere {
  PlannedLaunch plan;
  std::vector<SessionLock> held;  // of its ports, until the servers listen on them
};

// For the preset nsys.
struct NsysToUse {
  std::string program;  // its path; "": none is installed
  std::string session;  // the name of the one to make
};

// The plan for this host: the installed engine and its version, free ports, its GPUs. `folder` gets
// logs and traces, and need not exist yet. Starts nothing but a Python that is asked for the
// version. kUsage: it is not installed, options fight each other or do not fit that version (unless
// `force`), a port is taken, with who holds it. kOutput: there is no room for logs or traces.
// kInterrupted.
Result<PlanOfHere> PlanHere(EngineKind kind, const EngineArguments& arguments,
                            const std::string& folder, const NsysToUse& nsys,
                            const std::stop_token& stop);

}  // namespace tacho
