#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/live/liveness.h"
#include "control/log/engine_log.h"
#include "launch/kept_program.h"
#include "launch/launch_registry.h"
#include "launch/plan_here.h"
#include "launch/plan_launch.h"
#include "net/http_client.h"

namespace tacho {

// The signs that a launched engine can be profiled. With the preset nsys they may all be missing,
// because nsys uses no profiler of the engine.
struct ProfilingProof {
  bool in_arguments = false;  // the arguments of its process show it
  // The line of its log in which the engine prints its own arguments, if they show it.
  std::optional<uint64_t> logged;
  // Whether POST /start_profile is registered; absent: the engine could not be asked.
  std::optional<bool> has_route;
};

// The servers of a launch while they run. They end with this object, or with this process in
// whatever way it ends.
class LaunchedServers {
 public:
  // Makes the folders and the keepers. kOutput: one of them cannot be made.
  static Result<LaunchedServers> Make(PlanOfHere here, const std::string& name,
                                      const std::string& folder);

  LaunchedServers(LaunchedServers&&) = default;
  LaunchedServers& operator=(LaunchedServers&&) = default;
  ~LaunchedServers() { End(); }

  // Starts the engines and waits until all are healthy; then does the same with the router. While
  // it waits for a server, calls `progress` several times a second with the server's name and what
  // it is doing, or the last line of its log. From now on `client` sends its key to the servers.
  // kUsage: a program cannot be started; kRemote: a server ended (the message has its first
  // failure), was not healthy within `patience`, or needs another API key; kInterrupted.
  using Progress = std::function<void(const std::string& server, const std::string& line)>;
  Result<void> Start(HttpClient& client, std::chrono::milliseconds patience,
                     const Progress& progress, std::stop_token stop);

  // The signs that each engine can be profiled, in the order of the plan.
  std::vector<ProfilingProof> Prove(HttpClient& client, std::stop_token stop) const;

  // For each server that has ended by itself since the last call: the reason.
  std::vector<std::string> Endings();
  [[nodiscard]] bool AnyRuns();

  // Ends all servers at the same time, and waits until all their processes have ended. Returns a
  // text about each server that does not end.
  std::vector<std::string> End();
  // Lets the servers go on when this process ends.
  void Release();

  [[nodiscard]] const PlannedLaunch& plan() const { return plan_; }
  [[nodiscard]] const LaunchRecord& record() const { return record_; }

 private:
  struct Server {
    PlannedServer planned;
    KeptProgram program;
    EngineLog log{};         // what the log holds since this start
    std::string phase = {};  // the phase of its start that the log shows; "": not known
    std::chrono::steady_clock::time_point phase_began = {};  // when `phase` was first seen
    bool ending_told = false;
  };
  LaunchedServers() = default;
  Result<void> Begin(Server& server);
  static std::string WhatItDoes(Server& server);
  [[nodiscard]] int64_t OtherListener(const Server& server) const;
  Result<void> AwaitHealth(HttpClient& client, size_t first, size_t count,
                           std::chrono::steady_clock::time_point until, const Progress& progress,
                           const std::stop_token& stop);
  [[nodiscard]] NotReady WhyNot(HttpClient& client, const Server& server,
                                const std::stop_token& stop) const;

  PlannedLaunch plan_;
  LaunchRecord record_;
  std::vector<SessionLock> held_;  // the plan's port locks, held until all servers are ready
  std::vector<Server> servers_;    // the router comes last
};

}  // namespace tacho
