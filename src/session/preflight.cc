#include "session/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "control/local_engine.h"
#include "control/operate.h"
#include "control/profile_needs.h"
#include "control/version.h"
#include "session/preflight_folders.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr double kMuchClockOffset = 1.0;  // seconds

// The engine's own log: as given, of its process on this host, or a launch log among the targets.
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

// Who the worker is, and what is asked of it.
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
  // One host, one clock; a Date header lags where the server's loop does.
  if (!worker.expectation.pids.empty())
    worker.facts.clock_offset_ns = worker.facts.clock_error_ns = 0;
  worker.expectation.facts = worker.facts;
}

// The daemon does not stall the engine; its window has an end from the beginning.
Via ViaFor(const RecordedWorker& worker, const RecordOptions& options) {
  const bool counts = options.profile.steps || options.window_requests;
  const bool fields_fit = CheckFields("daemon", "", worker.profile).has_value();
  const ProfilerFacts& profiler = worker.facts.profiler;
  return profiler.has_daemon && !(profiler.has_http && (counts || !fields_fit)) ? Via::kDaemon
                                                                                : Via::kHttp;
}

Result<void> PrepareForDaemon(RecordedWorker& worker, const RecordOptions& options,
                              const std::string& folder_in_run) {
  if (!worker.facts.profiler.has_daemon)
    return Fail(ErrorKind::kUsage, fmt::format("{}: no process of it on this host was started with "
                                               "KINETO_USE_DAEMON=1",
                                               worker.worker.url));
  if (const auto fields = CheckFields("daemon", "", worker.profile); !fields)
    return tl::unexpected(fields.error().WithContext(worker.worker.url));
  worker.folder = folder_in_run;
  if (options.profile.steps || options.window_requests)
    return Fail(
        ErrorKind::kUsage,
        fmt::format("{}: a window by Kineto's daemon ends by time alone: give --duration TIME "
                    "instead of {}, or {} and record by HTTP",
                    worker.worker.url, options.profile.steps ? "--steps" : "--requests",
                    EngineRule(worker.facts.kind, worker.facts.version, "enable")));
  worker.expectation.steps_named = false;
  worker.expectation.by_daemon = true;
  return {};
}

Result<void> PrepareForHttp(RecordedWorker& worker, const RecordOptions& options,
                            const std::string& folder_in_run, std::vector<std::string>& remarks,
                            const std::stop_token& stop) {
  ProfileOptions& profile = worker.profile;
  Result<std::string> folder = FolderOf(worker, options, folder_in_run, profile, stop);
  Result<ControlRequest> start = PlanStart(worker.worker, worker.facts, profile);
  if (!start) return tl::unexpected(start.error());
  if (!folder) return tl::unexpected(folder.error());
  worker.folder = *folder;
  std::error_code failed;
  if (!options.trace_dir.empty() && !fs::exists(worker.folder, failed))
    remarks.push_back(fmt::format("--trace-dir {} is not there yet: is it where {} will make it?",
                                  worker.folder, worker.worker.url));
  worker.start = *start;
  worker.expectation.steps_named =
      EngineRule(worker.facts.kind, worker.facts.version, "step_names") != "no";
  worker.stop =
      PlanStop(worker.worker, worker.facts, profile.steps && !profile.IsOn("profile_by_stage"));
  LookAtRoom(worker.folder, remarks);
  for (std::string& remark : StartRemarks(worker.worker, worker.facts, profile))
    remarks.push_back(std::move(remark));
  if (options.profile.steps && !worker.facts.profiler.reads_body && !worker.facts.has_metrics)
    remarks.push_back(fmt::format(
        "{}: neither counts steps by request nor tells them in metrics: the whole window is taken",
        worker.worker.url));
  return {};
}

// Everything about one worker that can be settled beforehand.
Result<void> Prepare(RecordedWorker& worker, const RecordOptions& options, const RunFolder& folder,
                     const std::string& key, size_t index, Preflight& preflight,
                     const std::stop_token& stop) {
  Identify(worker, options, key, index);
  if (preflight.via == Via::kAuto) preflight.via = ViaFor(worker, options);
  // ProfilerSession::EndOldSessions.
  const bool stops_first = preflight.via == Via::kHttp && worker.facts.kind == EngineKind::kVllm;
  TACHO_RETURN_IF_ERROR(
      CheckNoOpenSession(worker.worker, worker.facts, worker.profile, stops_first));
  const std::string folder_in_run = folder.In("traces/" + worker.expectation.name);
  std::error_code ignored;
  fs::create_directories(folder_in_run, ignored);
  return preflight.via == Via::kDaemon
             ? PrepareForDaemon(worker, options, folder_in_run)
             : PrepareForHttp(worker, options, folder_in_run, preflight.remarks, stop);
}

void LookAtClock(const RecordedWorker& worker, std::vector<std::string>& remarks) {
  if (!worker.facts.clock_offset_ns) return;
  double seconds = static_cast<double>(*worker.facts.clock_offset_ns) / 1e9;
  double error = static_cast<double>(worker.facts.clock_error_ns.value_or(0)) / 1e9;
  if (seconds - error > kMuchClockOffset || seconds + error < -kMuchClockOffset)
    remarks.push_back(fmt::format("{}: its clock is {:+.1f} s (give or take {:.1f}) from ours",
                                  worker.worker.url, seconds, error));
}

void LeaveOut(RecordedWorker worker, const std::string& why, Preflight& preflight) {
  const std::string url = worker.worker.url + ": ";
  worker.expectation.trouble = why.substr(why.starts_with(url) ? url.size() : 0);
  preflight.troubles.push_back(why);
  preflight.left_out.push_back(std::move(worker));
}

}  // namespace

Result<Preflight> RunPreflight(HttpClient& client, const RecordOptions& options,
                               const RunFolder& folder, const std::string& key,
                               std::stop_token stop) {
  const std::chrono::milliseconds patience = ProbePatience(options.patience);
  Result<Deployment> deployment = Discover(client, options.targets, stop, patience);
  if (!deployment) return tl::unexpected(deployment.error());
  std::vector<Result<EngineFacts>> facts = ProbeAll(client, deployment->workers, patience, stop);
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");

  Result<SessionLock> lock = LockAll(deployment->workers, "tacho record");
  if (!lock) return tl::unexpected(lock.error());
  Preflight preflight{.deployment = std::move(*deployment),
                      .workers = {},
                      .left_out = {},
                      .via = options.via,
                      .lock = std::move(*lock),
                      .remarks = {},
                      .troubles = {}};
  preflight.remarks = preflight.deployment.remarks;
  std::optional<Error> first_error;
  // Where one cannot be recorded the others tell whether --keep-going would help; ssh to a host
  // that is not there takes too long for that.
  const auto enough = [&] {
    return first_error && !options.keep_going &&
           (!preflight.workers.empty() || !options.collect_from.empty());
  };
  for (size_t i = 0; i < facts.size() && !enough(); ++i) {
    RecordedWorker worker;
    worker.worker = preflight.deployment.workers[i];
    worker.expectation.url = worker.worker.url;
    // As everywhere on the screens and in the run folder.
    worker.expectation.name = fmt::format("w{}", i);
    const Result<void> prepared = facts[i].and_then([&](const EngineFacts& of_worker) {
      worker.facts = of_worker;
      return Prepare(worker, options, folder, key, i, preflight, stop);
    });
    if (prepared) {
      LookAtClock(worker, preflight.remarks);
      preflight.workers.push_back(std::move(worker));
    } else {
      if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
      if (!first_error) first_error = prepared.error();
      LeaveOut(std::move(worker), prepared.error().message, preflight);
    }
  }
  if (first_error && !options.keep_going) {
    if (!preflight.workers.empty()) first_error->message += " (--keep-going records the others)";
    return tl::unexpected(*first_error);
  }
  if (preflight.workers.empty())
    return Fail(ErrorKind::kRemote,
                fmt::format("no worker can be profiled: {}", preflight.troubles.front()));
  return preflight;
}

}  // namespace tacho
