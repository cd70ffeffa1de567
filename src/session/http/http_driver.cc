#include "session/http/http_driver.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "control/engine_type.h"
#include "control/launch/profile_needs.h"
#include "control/version.h"
#include "session/http/profiler_session.h"
#include "session/plan/preflight_folders.h"

namespace tacho {

bool HttpDriver::EndsOldSessions(const EngineFacts& facts) const {
  return TypeOf(facts.kind).MayBeStoppedFirst();
}

Checked<void> HttpDriver::Check(RecordedWorker& worker, const std::string& folder_in_run,
                                std::vector<Finding>& findings, const std::stop_token& stop) {
  ProfileOptions& profile = worker.profile;
  const std::string& url = worker.worker.url;
  if (std::optional<Finding> obstacle = FindObstacle(worker.worker, worker.facts, profile))
    return tl::unexpected(std::move(*obstacle));
  const Checked<std::string> folder = FolderOf(worker, options_, folder_in_run, profile, stop);
  Result<ControlRequest> start = PlanStart(worker.worker, worker.facts, profile);
  if (!start) return tl::unexpected(FindingOf(start.error(), url));
  if (!folder) return tl::unexpected(folder.error());
  worker.folder = worker.written_at = *folder;
  std::error_code failed;
  if (!options_.trace_dir.empty() && worker.stays_in.empty() &&
      !std::filesystem::exists(worker.folder, failed))
    findings.push_back({FindingId::kTraceDirMissing, "",
                        fmt::format("--trace-dir {} is not there yet: is it where {} will make it?",
                                    worker.folder, url)});
  worker.start = std::move(*start);
  // Ranges on the host name the steps, so a trace without CPU activity does not name them.
  const auto activities = profile.fields.find("activities");
  worker.expectation.steps_named =
      EngineRule(worker.facts.kind, worker.facts.version, "step_names") != "no" &&
      (activities == profile.fields.end() || activities->second.find("CPU") != std::string::npos);
  worker.stop =
      PlanStop(worker.worker, worker.facts, profile.steps && !profile.IsOn("profile_by_stage"));
  LookAtRoom(worker.folder, findings);
  std::ranges::move(FindRisks(worker.worker, worker.facts, profile), std::back_inserter(findings));
  if (options_.profile.steps && !worker.facts.profiler.reads_body && !worker.facts.has_metrics)
    findings.push_back({FindingId::kStepsNotCounted, url,
                        "neither counts steps by request nor tells them in metrics: the whole "
                        "window is taken"});
  return {};
}

std::unique_ptr<DriverWindow> HttpDriver::Open(HttpClient& client, RecordObserver& observer,
                                               Recording& recording) {
  return std::make_unique<ProfilerSession>(client, options_, observer, recording);
}

}  // namespace tacho
