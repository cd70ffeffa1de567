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

// The signs that a launched engine can be profiled. All are missing with the preset nsys, which
// uses no profiler of the engine.
struct ProfilingProof {
  bool in_arguments = false;       // the process's arguments show it
  std::optional<uint64_t> logged;  // the line of its log that shows the arguments it read
  // Whether POST /start_profile is registered; absent: the engine could not be asked.
  std::optional<bool> has_route;
};

// The servers of a launch while they run. They end with this object, or with this process, however
// it ends.
class LaunchedServers {
 public:
  // Makes the folders and the keepers. kOutput: one of them cannot be made.
  static Result<LaunchedServers> Make(PlanOfHere here, const std::string& name,
                                      const std::string& folder);

  LaunchedServers(LaunchedServers&&) = default;
  LaunchedServers& operator=(LaunchedServers&&) = default;
  ~LaunchedServers() { End(); }

  // Starts the engines, waits until all are healthy, and then does the same with the router. While
  // it waits for a server, `progress` gets the server's name and the last line of its log several
  // times a second. kUsage: a program cannot be started; kRemote: a server ended (the message has
  // its first failure), was not healthy within `patience`, or wants another API key; kInterrupted.
  // From now on `client` sends its key to the servers.
  using Progress = std::function<void(const std::string& server, const std::string& line)>;
  Result<void> Start(HttpClient& client, std::chrono::milliseconds patience,
                     const Progress& progress, std::stop_token stop);

  // The proof for each engine, in the order of the plan.
  std::vector<ProfilingProof> Prove(HttpClient& client, std::stop_token stop) const;

  // For each server that ended by itself since the last call: why.
  std::vector<std::string> Endings();
  [[nodiscard]] bool AnyRuns();

  // Ends all at the same time and waits until all their processes have ended. Returns words about
  // each that does not end.
  std::vector<std::string> End();
  // The servers go on when this process ends.
  void Release();

  [[nodiscard]] const PlannedLaunch& plan() const { return plan_; }
  [[nodiscard]] const LaunchRecord& record() const { return record_; }

 private:
  struct Server {
    PlannedServer planned;
    KeptProgram program;
    EngineLog log{};                                         // its log since this start
    std::string phase = {};                                  // what its log shows; "": not known
    std::chrono::steady_clock::time_point phase_began = {};  // when `phase` was seen first
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
  std::vector<SessionLock> held_;  // the plan's, until all servers are ready
  std::vector<Server> servers_;    // the router comes last
};

}  // namespace tacho
