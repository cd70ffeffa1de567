#include "control/live/probed_workers.h"

#include <algorithm>
#include <iterator>

#include "control/launch/profile_needs.h"
#include "control/live/liveness.h"
#include "control/live/local_engine.h"
#include "control/live/session_lock.h"
#include "control/version.h"

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

bool ProbedWorker::CannotProfile() const {
  return !facts->profiler.has_http && !facts->profiler.has_daemon;
}

bool ProbedWorker::LacksFolder() const {
  const ProfilerFacts& profiler = facts->profiler;
  // A recording itself sets the folder if an engine on this host takes it with the start.
  return profiler.has_http && !profiler.has_daemon && !profiler.folder &&
         !(EngineRule(facts->kind, facts->version, "folder_in_start") == "yes" && is_local());
}

std::vector<Finding> NeedsOf(const std::vector<ProbedWorker>& workers) {
  std::vector<Finding> needs;
  for (const ProbedWorker& probed : workers) {
    if (!probed.facts) continue;
    const std::string& url = probed.worker.url;
    if (probed.owner && !IsOurHold(*probed.owner))
      needs.push_back(BeingProfiled(url, *probed.owner));
    if (probed.CannotProfile())
      needs.push_back(ProfilerOff(url, *probed.facts));
    else if (probed.LacksFolder())
      needs.push_back(FolderUnknown(url, *probed.facts));
  }
  return needs;
}

std::vector<Finding> FindingsOf(const Deployment& deployment,
                                const std::vector<ProbedWorker>& workers) {
  std::vector<Finding> findings = deployment.findings;
  for (const ProbedWorker& probed : workers) {
    const std::string& url = probed.worker.url;
    if (!probed.facts) {
      findings.push_back(FindingOf(probed.facts.error(), url));
      continue;
    }
    if (!probed.dead.empty()) findings.push_back({FindingId::kEngineDead, url, probed.dead});
    if (probed.facts->asleep.value_or(false)) findings.push_back(EngineAsleep(url));
    if (probed.open && (!probed.owner || IsOurHold(*probed.owner)))
      findings.push_back(OpenSessionOn(url, *probed.open, *probed.facts));
  }
  std::ranges::move(NeedsOf(workers), std::back_inserter(findings));
  return findings;
}

}  // namespace tacho
