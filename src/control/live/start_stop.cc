#include "control/live/start_stop.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "control/engine_type.h"

namespace tacho {

Result<SessionLock> LockAll(const std::vector<Worker>& workers, std::string_view command) {
  std::vector<std::string> urls;
  for (const Worker& worker : workers) urls.push_back(worker.url);
  return SessionLock::Take(urls, command);
}

ControlRequest PlanSleep(const Worker& worker, const EngineFacts& facts, bool sleep,
                         int64_t level) {
  return TypeOf(facts.kind).PlanSleep(worker.url, sleep, level);
}

StartedSessions StartAll(HttpClient& client, const std::vector<PlannedStart>& starts,
                         std::chrono::milliseconds patience, std::stop_token stop,
                         const std::function<void(const ControlOutcome&)>& ended) {
  StartedSessions started;
  const auto mark = [&](const PlannedStart& start, const OpenSession& session) {
    if (const Result<void> kept = KeepOpenSession(start.worker.url, session); !kept)
      started.findings.push_back({FindingId::kMarkNotKept, "", kept.error().message});
  };
  std::vector<ControlRequest> requests;
  std::vector<EngineFacts> facts;
  std::vector<std::optional<OpenSession>> earlier;
  for (const PlannedStart& start : starts) {
    requests.push_back(start.request);
    facts.push_back(start.facts);
    earlier.push_back(FindOpenSession(start.worker, start.facts));
    OpenSession session = start.mark;
    session.since_unix_s = std::time(nullptr);
    session.instance = start.facts.instance;
    mark(start, session);
  }
  started.outcomes = SendAll(client, requests, facts, patience, std::move(stop), ended);
  for (size_t i = 0; i < starts.size(); ++i) {
    ControlOutcome& outcome = started.outcomes[i];
    if (outcome.verdict != ControlVerdict::kRefused) continue;
    ForgetOpenSession(starts[i].worker.url);
    if (!earlier[i]) continue;
    mark(starts[i], *earlier[i]);
    outcome.taken = true;
  }
  return started;
}

std::vector<ControlOutcome> StopAll(HttpClient& client, const std::vector<PlannedStop>& stops,
                                    std::chrono::milliseconds patience, std::stop_token stop) {
  std::vector<ControlRequest> requests;
  std::vector<EngineFacts> facts;
  for (const PlannedStop& planned : stops) {
    requests.push_back(planned.request);
    facts.push_back(planned.facts);
  }
  std::vector<ControlOutcome> outcomes =
      SendAll(client, requests, facts, patience, std::move(stop));
  for (const ControlOutcome& outcome : outcomes)
    if (outcome.TellsThatNothingRuns()) ForgetOpenSession(outcome.url);
  return outcomes;
}

}  // namespace tacho
