#include "cli/record/probe_workers.h"

#include "control/live/liveness.h"
#include "control/live/local_engine.h"
#include "control/live/session_lock.h"

namespace tacho {

std::vector<ProbedWorker> ProbeWorkers(HttpClient& client, const std::vector<Worker>& workers,
                                       std::chrono::milliseconds patience, std::stop_token stop) {
  std::vector<Result<EngineFacts>> facts = ProbeAll(client, workers, patience, std::move(stop));
  std::vector<ProbedWorker> all;
  for (size_t i = 0; i < facts.size(); ++i) {
    ProbedWorker probed{.worker = workers[i], .facts = std::move(facts[i])};
    if (probed.facts) {
      probed.processes = LocalProcesses(probed.worker);
      AddLocalFacts(probed.processes, *probed.facts);
      probed.open = FindOpenSession(probed.worker, *probed.facts);
    }
    all.push_back(std::move(probed));
  }
  return all;
}

bool AskForLife(HttpClient& client, std::vector<ProbedWorker>& workers) {
  std::vector<Worker> asked;
  std::vector<EngineFacts> facts;
  std::vector<ProbedWorker*> answered;
  for (ProbedWorker& probed : workers) {
    if (!probed.facts) continue;
    asked.push_back(probed.worker), facts.push_back(*probed.facts), answered.push_back(&probed);
  }
  const std::vector<std::string> dead = WhyDead(client, asked, facts, kPatienceForLife);
  bool all_live = true;
  for (size_t i = 0; i < answered.size(); ++i) {
    answered[i]->dead = dead[i];
    answered[i]->owner = SessionLock::OwnerOf(answered[i]->worker.url);
    all_live &= dead[i].empty();
  }
  return all_live;
}

}  // namespace tacho
