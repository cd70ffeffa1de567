#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "control/nsys/nsys_sessions.h"

namespace tacho {

// Runs the nsys of this host to start and stop collections in sessions that others launched. Errors
// are kRemote, with nsys's own message. Each call except Stop may take up to 60 s.
class NsysControl {
 public:
  // `program`: the path of nsys. The constructor asks nsys which options its `start` has.
  NsysControl(std::string program, std::string version);

  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] Result<std::vector<NsysSession>> Sessions() const;
  // The session must exist: for an unknown name nsys would make a new session, with an agent
  // process.
  [[nodiscard]] Result<void> Start(const std::vector<std::string>& words) const;
  // Waits until nsys has written the report and ended, at most for `patience` (0: 10 minutes).
  // Calls `on_share` with the share of the report that is written.
  [[nodiscard]] Result<void> Stop(const std::vector<std::string>& words,
                                  std::chrono::milliseconds patience,
                                  const std::function<void(double)>& on_share) const;

  // The command lines for Start and Stop, which can also be shown. `report`: without its ending.
  [[nodiscard]] std::vector<std::string> StartWords(const std::string& session,
                                                    const std::string& report) const;
  [[nodiscard]] std::vector<std::string> StopWords(const std::string& session) const;

 private:
  std::string program_, version_, start_help_;
};

// Ends what is left of a session: its program, then its agents (NsysAgents). Kills the agents with
// SIGKILL if they are still there after 5 s. Does nothing if the session has no agent.
void EndNsysSession(const std::string& program, const std::string& session);

}  // namespace tacho
