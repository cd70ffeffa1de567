#include "session/http/side_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/clock_pair.h"
#include "session/files/fetch_files.h"

namespace tacho {

namespace fs = std::filesystem;

void SideSession::Observer::OnProgress(std::string_view phase, const std::string& what) {
  to_.OnProgress(name_, fmt::format("{} {}", phase, what));
}
void SideSession::Observer::OnRemark(const std::string& what) { to_.OnRemark(name_ + ": " + what); }

SideSession::SideSession(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                         const Recording& recording, const SideSessionPlan& plan, RunFolder folder)
    : options_(options),
      observer_(observer, plan.name),
      scratch_{.folder = std::move(folder),
               .via = Via::kHttp,
               .deployment = recording.deployment,
               .clocks = ReadClocks()} {
  options_.keep_going = true;
  for (size_t i : plan.workers) AddWorker(recording, recording.workers[i], plan);
  scratch_.window.most_ns = plan.most_ns;
  session_.emplace(client, options_, observer_, scratch_);
  session_->files().LookIntoFolders();
}

SideSession::~SideSession() {
  std::error_code ignored;
  fs::remove_all(scratch_.folder.path(), ignored);
  observer_.OnLeftBehind("");
}

void SideSession::AddWorker(const Recording& recording, const RecordedWorker& from,
                            const SideSessionPlan& plan) {
  RecordedWorker worker = from;
  const std::string name = fmt::format("w{}", scratch_.workers.size());
  worker.profile.fields.erase("delay_iterations");
  const std::string own_folder = scratch_.folder.In(name);
  if (worker.profile.output_dir && worker.folder.starts_with(recording.folder.path())) {
    std::error_code ignored;
    fs::create_directories(own_folder, ignored);
    worker.profile.output_dir = worker.folder = own_folder;
  }
  worker.profile.key = plan.name + "-" + worker.profile.key;
  worker.key = worker.profile.key;
  ProfileOptions profile = worker.profile;
  profile.at_once = true;
  profile.steps = plan.steps(worker);
  scratch_.window.steps = std::min(scratch_.window.steps.value_or(INT64_MAX), *profile.steps);
  if (Result<ControlRequest> start = PlanStart(worker.worker, worker.facts, profile))
    worker.start = std::move(*start);
  worker.stop = PlanStop(worker.worker, worker.facts, false);
  worker.trial_start_ns.reset();
  worker.forecast.reset();
  worker.expectation = {};
  worker.expectation.url = worker.worker.url;
  worker.expectation.name = from.expectation.name;
  worker.expectation.pids = from.expectation.pids;
  worker.expectation.steps_named = from.expectation.steps_named;
  scratch_.workers.push_back(std::move(worker));
}

std::vector<std::string> RemoveFilesOf(const WorkerFiles& files,
                                       const std::vector<RecordedWorker>& workers,
                                       const RecordOptions& options) {
  WorkerFiles::ByOwner written = files.DivideByOwner();
  std::vector<std::string> left = std::move(written.unclear);
  for (const std::string& path : written.ours) {
    std::error_code failed;
    fs::remove(path, failed);
    if (failed) left.push_back(path);
  }
  for (const RecordedWorker& worker : workers) {
    const bool here = !worker.remote && worker.stays_in.empty();
    if (here || !worker.started) continue;
    if (worker.started->verdict == ControlVerdict::kRefused) continue;
    if (!worker.remote) {
      left.push_back(PlaceOf(worker));
      continue;
    }
    const Result<void> removed =
        RemoveFetched(*worker.remote, FileKeyOf(worker), worker.expectation.start_unix_ns,
                      ProbePatience(options.patience));
    if (!removed) left.push_back(fmt::format("{} ({})", PlaceOf(worker), removed.error().message));
  }
  return left;
}

}  // namespace tacho
