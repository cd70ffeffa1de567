#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "launch/launched_servers.h"

namespace tacho {

// Shows a launch on standard error. On a terminal, one changing line names what tacho waits for.
// Elsewhere, a new line comes when a server begins, and then every ten seconds.
class LaunchNarrator {
 public:
  LaunchNarrator(std::optional<size_t> live_columns, bool quiet)
      : live_columns_(live_columns), quiet_(quiet), begin_(std::chrono::steady_clock::now()) {}
  ~LaunchNarrator() { Clear(); }

  void OnProgress(const std::string& server, const std::string& line);
  // Erases the changing line.
  void Clear();
  [[nodiscard]] int64_t Seconds() const;

 private:
  const std::optional<size_t> live_columns_;
  const bool quiet_;
  const std::chrono::steady_clock::time_point begin_;
  std::map<std::string, int64_t> said_at_;  // seconds, by server
  bool open_line_ = false;
};

// Ends the servers, and complains about those that do not end.
void EndAndSay(LaunchedServers& servers);
// Starts the servers and shows their progress; ends them on failure.
Result<void> StartAndNarrate(LaunchedServers& servers, HttpClient& client,
                             std::chrono::milliseconds patience, LaunchNarrator& narrator,
                             const std::stop_token& stop);

// Warns on standard error: the findings of the plan, engines without a router, and the cost of a
// costly preset.
void SayWarnings(const PlannedLaunch& plan);

// For a dry run: the commands that would be started, and the command to type next.
std::string PlanText(const PlannedLaunch& plan);
// The servers, the proofs that they can be profiled, and the command to type next.
std::string LaunchScreen(const LaunchedServers& servers, const std::vector<ProfilingProof>& proofs,
                         int64_t seconds);
std::string LaunchJson(const PlannedLaunch& plan, const LaunchRecord* record,
                       const std::vector<ProfilingProof>& proofs);

}  // namespace tacho
