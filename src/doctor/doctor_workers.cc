#include "doctor/doctor_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "base/disk_room.h"
#include "control/launch/launch_checks.h"
#include "control/launch/profile_needs.h"
#include "control/live/known_faults.h"
#include "control/live/local_engine.h"
#include "control/live/port_owner.h"
#include "control/version.h"
#include "session/files/trace_folder.h"
#include "session/plan/preflight.h"
#include "session/plan/preflight_folders.h"

namespace tacho {
namespace {

// Looks at where the worker's traces go, and whether there is room for them.
void ExamineFolder(const ExaminedWorker& examined, Examination& examination) {
  RecordedWorker recorded;
  recorded.worker = examined.worker;
  recorded.facts = examined.facts;
  recorded.expectation.pids = examined.pids;
  ProfileOptions profile;
  std::error_code failed;
  const std::string here = std::filesystem::current_path(failed).string();
  const Checked<std::string> folder = FolderOf(recorded, {}, here, profile, {});
  if (!folder) return examination.Add(folder.error());
  std::vector<std::string> folders{*folder};
  for (const int64_t pid : examined.pids)
    if (auto temporary = EnvironmentOf(pid, "TMPDIR")) folders.push_back(std::move(*temporary));
  if (!examined.pids.empty() && folders.size() == 1) folders.emplace_back("/tmp");
  std::ranges::sort(folders);
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  ExamineRoom(folders, examination);
}

void ExamineVersion(EngineKind kind, const std::string& version, Examination& examination) {
  if (IsKnown(kind)) examination.engines.emplace(NameOf(kind));
  for (const Finding& finding : CheckVersion(NameOf(kind), version)) examination.Add(finding);
  examination.looked.push_back(
      {Look::kVersion, fmt::format("{}{}{}", NameOf(kind), version.empty() ? "" : " ", version),
       version.empty() ? "its version is not known: --engine-version V names it" : ""});
}

}  // namespace

void ExamineRoom(const std::vector<std::string>& folders, Examination& examination) {
  for (const std::string& folder : folders) {
    const std::optional<uint64_t> bytes = FreeBytes(folder);
    examination.looked.push_back(
        {Look::kHost,
         bytes ? fmt::format("room in {}: {} MB", folder, *bytes >> 20) : "room in " + folder,
         bytes ? "" : "the folder is not there"});
    std::vector<Finding> findings;
    LookAtRoom(folder, findings);
    for (const Finding& finding : findings) examination.Add(finding);
  }
}

void ExamineCommand(EngineKind kind, const std::string& version,
                    const std::vector<std::string>& words,
                    const std::vector<std::string>& environment, const std::string& url,
                    Examination& examination) {
  ExamineVersion(kind, version, examination);
  for (Finding& finding : CheckLaunch(kind, version, words, environment)) {
    // Skips what the probe has already reported.
    if (!url.empty() && examination.Has(finding.id, url)) continue;
    Diagnosis diagnosis = DiagnosisOf(finding);
    diagnosis.worker = url;
    if (!url.empty() && !finding.subject.empty())
      diagnosis.subject = fmt::format("{}: {}", url, finding.subject);
    else if (finding.subject.empty())
      diagnosis.subject = url;
    examination.Add(std::move(diagnosis));
  }
}

void ExamineWorker(const ExaminedWorker& examined, Examination& examination) {
  // Named here because Clang 14 cannot capture structured bindings.
  const Worker& worker = examined.worker;
  const EngineFacts& facts = examined.facts;
  const std::vector<int64_t>& pids = examined.pids;
  const auto add_new = [&](const Finding& finding) {
    if (!examination.Has(finding.id, worker.url)) examination.Add(finding);
  };
  const ProfilerFacts& profiler = facts.profiler;
  // What a session over HTTP needs matters only if there is HTTP; otherwise the daemon records the
  // worker.
  if (profiler.has_http) {
    if (const auto obstacle = FindObstacle(worker, facts, {})) add_new(*obstacle);
    for (const Finding& risk : FindRisks(worker, facts, {})) add_new(risk);
    if (!examination.Has(FindingId::kFolderUnknown, worker.url) && !profiler.has_daemon)
      ExamineFolder(examined, examination);
  }
  std::vector<Finding> findings;
  LookAtClock(worker, facts, findings);
  if (auto bound = EndsByOwnBound(worker.url, facts)) findings.push_back(*std::move(bound));
  for (const Finding& finding : findings) add_new(finding);

  if (const auto command = CommandLineOf(pids)) {
    examination.looked.push_back(
        {Look::kCommand, fmt::format("{}: process {}, its command line and environment", worker.url,
                                     command->pid)});
    ExamineCommand(command->kind, facts.version, command->words, command->environment, worker.url,
                   examination);
  } else {
    examination.looked.push_back({Look::kCommand, worker.url + ": its command line and environment",
                                  pids.empty()
                                      ? "its processes are not on this host, or are another user's"
                                      : "its processes show no engine's command line"});
    ExamineVersion(facts.kind, facts.version, examination);
  }
}

void ExamineTogether(const std::vector<ExaminedWorker>& workers, Examination& examination) {
  // By host and folder, because the same path on two hosts is usually two folders.
  std::map<std::pair<bool, std::string>, std::vector<std::string>> of;
  for (const ExaminedWorker& one : workers)
    if (!KeyNamesFiles(one.facts) && one.facts.profiler.folder)
      of[{!one.pids.empty(), *one.facts.profiler.folder}].push_back(one.worker.url);
  for (const auto& [where, urls] : of)
    if (urls.size() > 1)
      examination.Add(Finding{FindingId::kSharedFolder, urls[0],
                              fmt::format("{} of the engines write to {}, and this version's names "
                                          "do not show whose a file is",
                                          urls.size(), where.second)});
}

}  // namespace tacho
