#include "session/plan/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "control/live/local_engine.h"
#include "control/live/port_owner.h"
#include "control/live/start_stop.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr double kMuchClockOffset = 1.0;  // seconds

// The path of the engine's own log: the log that the user named, else the one that its process on
// this host writes, else a launch log among the targets.
std::string LogOf(const RecordedWorker& worker, const RecordOptions& options, size_t index) {
  const std::vector<std::string>& given = options.engine_logs;
  if (!given.empty())
    return given.size() == 1 ? given.front() : index < given.size() ? given[index] : "";
  if (std::string log = LogFileOf(worker.expectation.pids); !log.empty()) return log;
  std::error_code failed;
  for (const std::string& target : options.targets)
    if (fs::is_regular_file(target, failed)) return target;
  return "";
}

// Fills in the worker's identity and what is asked of its profiler.
void Identify(RecordedWorker& worker, const RecordOptions& options, const std::string& key,
              size_t index) {
  worker.profile = options.profile;
  worker.profile.NameSession(fmt::format("{}-{}", key, worker.expectation.name));
  worker.key = worker.profile.key;
  worker.expectation.steps_asked = options.profile.steps;
  worker.expectation.by_stage = options.profile.IsOn("profile_by_stage");
  worker.expectation.pids = LocalProcesses(worker.worker);
  AddLocalFacts(worker.expectation.pids, worker.facts);
  worker.log = EngineLog(LogOf(worker, options, index));
  worker.expectation.facts = worker.facts;
}

// Settles everything about one worker that can be settled before the start.
Checked<void> Prepare(RecordedWorker& worker, const RecordOptions& options, const RunFolder& folder,
                      const std::string& key, size_t index, Preflight& preflight,
                      const std::stop_token& stop) {
  Identify(worker, options, key, index);
  if (!preflight.driver) preflight.driver = *MakeDriver(ViaFor(worker, options), options, stop);
  Driver& driver = *preflight.driver;
  if (std::optional<Finding> open = FindSessionInTheWay(worker.worker, worker.facts, worker.profile,
                                                        driver.EndsOldSessions(worker.facts)))
    return tl::unexpected(std::move(*open));
  const std::string folder_in_run = folder.In("traces/" + worker.expectation.name);
  std::error_code ignored;
  fs::create_directories(folder_in_run, ignored);
  return driver.Check(worker, folder_in_run, preflight.findings, stop);
}

// Prepares each worker in turn. Without keep_going, stops after a failed worker as soon as it is
// known whether --keep-going would help, because each further worker may cost a long wait for ssh.
void PrepareAll(const std::vector<Result<EngineFacts>>& facts, const RecordOptions& options,
                const RunFolder& folder, const std::string& key, const std::stop_token& stop,
                Preflight& preflight) {
  const auto enough = [&] {
    return !preflight.left_out.empty() && !options.keep_going &&
           (!preflight.workers.empty() || !options.collect_from.empty());
  };
  for (size_t i = 0; i < facts.size() && !enough(); ++i) {
    RecordedWorker worker;
    worker.worker = preflight.deployment.workers[i];
    worker.expectation.url = worker.worker.url;
    // The name that the screen and the run folder use.
    worker.expectation.name = fmt::format("w{}", i);
    Checked<void> prepared;
    if (facts[i]) {
      worker.facts = *facts[i];
      prepared = Prepare(worker, options, folder, key, i, preflight, stop);
    } else {
      prepared = tl::unexpected(FindingOf(facts[i].error(), worker.worker.url));
    }
    if (prepared) {
      LookAtClock(worker.worker, worker.facts, preflight.findings);
      preflight.workers.push_back(std::move(worker));
    } else {
      worker.expectation.trouble = std::move(prepared.error());
      preflight.left_out.push_back(std::move(worker));
    }
  }
  for (const RecordedWorker& worker : preflight.left_out)
    preflight.findings.push_back(*worker.expectation.trouble);
}

}  // namespace

void LookAtClock(const Worker& worker, const EngineFacts& facts, std::vector<Finding>& findings) {
  if (!facts.clock_offset_ns) return;
  const double seconds = static_cast<double>(*facts.clock_offset_ns) / 1e9;
  const double error = static_cast<double>(facts.clock_error_ns.value_or(0)) / 1e9;
  if (seconds - error > kMuchClockOffset || seconds + error < -kMuchClockOffset)
    findings.push_back(
        {FindingId::kClockOffset, worker.url,
         fmt::format("its clock is {:+.1f} s (give or take {:.1f}) from ours", seconds, error)});
}

Result<Preflight> RunPreflight(HttpClient& client, const RecordOptions& options,
                               const RunFolder& folder, const std::string& key,
                               std::stop_token stop) {
  const std::chrono::milliseconds patience = ProbePatience(options.patience);
  TACHO_ASSIGN_OR_RETURN(Deployment deployment, Discover(client, options.targets, stop, patience));
  const std::vector<Result<EngineFacts>> facts =
      ProbeAll(client, deployment.workers, patience, stop);
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");

  TACHO_ASSIGN_OR_RETURN(SessionLock lock, LockAll(deployment.workers, "tacho record"));
  Preflight preflight{.deployment = std::move(deployment),
                      .workers = {},
                      .left_out = {},
                      .driver = nullptr,
                      .lock = std::move(lock),
                      .findings = {}};
  preflight.findings = preflight.deployment.findings;
  if (options.via != Via::kAuto) {
    TACHO_ASSIGN_OR_RETURN(preflight.driver, MakeDriver(options.via, options, stop));
  }
  PrepareAll(facts, options, folder, key, stop, preflight);
  if (preflight.left_out.empty()) return preflight;
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  const Finding& first = *preflight.left_out.front().expectation.trouble;
  if (!options.keep_going) {
    Error error = ErrorOf(first);
    if (!preflight.workers.empty()) error.message += " (--keep-going records the others)";
    return tl::unexpected(std::move(error));
  }
  if (preflight.workers.empty())
    return Fail(ErrorKind::kRemote, fmt::format("no worker can be profiled: {}", first.Text()));
  return preflight;
}

}  // namespace tacho
