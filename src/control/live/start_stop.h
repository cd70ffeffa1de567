#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "control/live/open_session.h"
#include "control/live/session_lock.h"

namespace tacho {

// How `tacho engine` and `tacho record` operate profilers: they lock all workers, mark each session
// as open before its start, start all of them, and stop all of them.

// The locks of all workers; fails like SessionLock::Take.
Result<SessionLock> LockAll(const std::vector<Worker>& workers, std::string_view command);

// The request that puts the engine to sleep or wakes it: vLLM's developer routes (`level` 1 or 2),
// or SGLang's memory routes.
ControlRequest PlanSleep(const Worker& worker, const EngineFacts& facts, bool sleep, int64_t level);

struct PlannedStart {
  Worker worker;
  EngineFacts facts;
  ControlRequest request;
  OpenSession mark;  // StartAll sets its time and instance
};
struct StartedSessions {
  // In the order of the starts. ControlOutcome::taken is also set for a refused start if its engine
  // was already marked as having an open session.
  std::vector<ControlOutcome> outcomes;
  std::vector<Finding> findings;  // about marks that could not be written
};
// Marks all sessions as open, so that the next tacho finds them if this one is killed, and sends
// the starts (SendAll). If a start is refused, restores the engine's earlier mark.
StartedSessions StartAll(HttpClient& client, const std::vector<PlannedStart>& starts,
                         std::chrono::milliseconds patience, std::stop_token stop,
                         const std::function<void(const ControlOutcome&)>& ended = {});

struct PlannedStop {
  EngineFacts facts;
  ControlRequest request;
};
// Sends the stops (SendAll), and removes the marks of engines in which no session runs any more.
std::vector<ControlOutcome> StopAll(HttpClient& client, const std::vector<PlannedStop>& stops,
                                    std::chrono::milliseconds patience, std::stop_token stop = {});

}  // namespace tacho
