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

// How to launch an engine, for every command that launches one.
struct EngineArguments {
  std::vector<std::string> words;  // the words after "--": the engine's own command or arguments
  std::string python, preset = "light";
  std::vector<std::string> environment;
  std::optional<int64_t> replicas, port;
  bool log_requests = false, force = false;
  std::string ready_within = "10m";
};

// Moves the settings before the engine's words ("CUDA_VISIBLE_DEVICES=0 vllm serve") to its
// environment, and returns them.
std::vector<std::string> MoveSettings(EngineArguments& engine);

// The port on which an engine listens by default.
uint16_t UsualPort(EngineKind kind);
// Names the process that listens on a port: "process 7 listens on it: vllm serve ...".
std::string ListenerOn(uint16_t port);

struct PlanOfHere {
  PlannedLaunch plan;
  std::vector<SessionLock> held;  // locks of its ports; hold them until the servers listen
};

// What the preset nsys needs.
struct NsysToUse {
  std::string program;  // its path; "": nsys is not installed
  std::string session;  // the name of the session to make
};

// Makes the plan for this host: the installed engine and its version, free ports, the host's GPUs.
// `folder` will hold logs and traces, and need not exist yet. Runs only a Python, to ask for
// versions, and for the preset nsys also `nsys launch --help`. kUsage: the engine is not installed,
// options contradict each other or do not fit the version (unless `force`), or a port is taken (the
// message says by whom). kOutput: no room for logs or traces. kInterrupted.
Result<PlanOfHere> PlanHere(EngineKind kind, const EngineArguments& arguments,
                            const std::string& folder, const NsysToUse& nsys,
                            const std::stop_token& stop);

}  // namespace tacho
