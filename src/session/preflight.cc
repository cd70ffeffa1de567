#include "session/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "control/local_engine.h"
#include "control/operate.h"
#include "control/profile_needs.h"
#include "control/version.h"
#include "net/url.h"
#include "session/trace_folder.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// A window of some seconds writes hundreds of megabytes, twice where the engine packs it.
constexpr uint64_t kLittleRoom = 2ull << 30;
constexpr double kMuchClockOffset = 1.0;  // seconds

// An engine's folder as it is seen from here: by --map, else the same path if it is there. An
// engine of this host makes its folder with its first trace: the one above is enough then.
std::string SeenFromHere(const std::string& folder, const RecordOptions& options, bool local) {
  for (const RecordOptions::PathMap& map : options.maps)
    if (folder == map.engine || folder.starts_with(map.engine + "/"))
      return map.local + folder.substr(map.engine.size());
  std::error_code ignored;
  bool there = fs::is_directory(folder, ignored) ||
               (local && fs::is_directory(fs::path(folder).parent_path(), ignored));
  return there ? folder : "";
}

// Which --collect-from is for this worker: the only one, or that of its host.
Result<std::string> SourceOf(const RecordedWorker& worker, const RecordOptions& options) {
  if (options.collect_from.size() == 1) return options.collect_from.front();
  const Result<Url> url = ParseUrl(worker.worker.url);
  for (const std::string& source : options.collect_from) {
    const std::string host = source.substr(0, source.find(':'));
    if (url &&
        host.substr(host.find('@') == std::string::npos ? 0 : host.find('@') + 1) == url->host)
      return source;
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: none of the --collect-from names its host", worker.worker.url));
}

// Where the worker's files will appear; "" when they will be fetched.
Result<std::string> FolderOf(RecordedWorker& worker, const RecordOptions& options,
                             const std::string& own_folder, ProfileOptions& profile,
                             std::stop_token stop) {
  bool local = !worker.expectation.pids.empty();
  std::string engine_folder = worker.facts.profiler.folder.value_or("");
  if (worker.facts.kind == EngineKind::kSglang) {
    if (!profile.output_dir && local && options.collect_from.empty())
      profile.output_dir = own_folder;
    engine_folder = profile.output_dir.value_or("");
  }
  if (!options.collect_from.empty()) {
    Result<std::string> source = SourceOf(worker, options);
    if (!source) return tl::unexpected(source.error());
    Result<RemoteFolder> remote =
        FindRemoteFolder(*source, engine_folder, options.patience, std::move(stop));
    if (!remote) return tl::unexpected(remote.error());
    worker.remote = std::move(*remote);
    return std::string();
  }
  if (!options.trace_dir.empty()) {
    // Engines make the folder with their first trace.
    std::error_code failed;
    const fs::path folder = fs::absolute(options.trace_dir, failed).lexically_normal();
    if (fs::is_directory(folder, failed)) return options.trace_dir;
    const bool is_its_own = engine_folder.empty() || fs::weakly_canonical(engine_folder, failed) ==
                                                         fs::weakly_canonical(folder, failed);
    if (!is_its_own)
      return Fail(
          ErrorKind::kUsage,
          fmt::format("{}: reports that it writes its traces to {}; --trace-dir says {}, "
                      "which is not there here: give --map {}=DIR, or leave --trace-dir out",
                      worker.worker.url, engine_folder, options.trace_dir, engine_folder));
    if (fs::is_directory(folder.parent_path(), failed)) return options.trace_dir;
    return Fail(ErrorKind::kUsage, options.trace_dir + ": --trace-dir is not there to be read");
  }
  std::string seen = engine_folder.empty() ? "" : SeenFromHere(engine_folder, options, local);
  if (!seen.empty()) return seen;
  if (engine_folder.empty())
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: {}", worker.worker.url, NoFolderText(worker.facts)));
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: writes its traces to {}, which is not seen from here: give --map "
                          "{}=DIR, or --collect-from HOST:{}",
                          worker.worker.url, engine_folder, engine_folder, engine_folder));
}

void LookAtRoom(const std::string& folder, std::vector<std::string>& remarks) {
  const std::optional<uint64_t> bytes = FreeBytes(folder);
  if (!bytes) return;
  std::string remark = fmt::format("{}: only {} MB are free for traces", folder, *bytes >> 20);
  if (*bytes < kLittleRoom && std::find(remarks.begin(), remarks.end(), remark) == remarks.end())
    remarks.push_back(remark);
}

// The engine's own log: as given, of its process on this host, or a launch log among the targets.
std::string LogOf(const RecordedWorker& worker, const RecordOptions& options, size_t index) {
  const std::vector<std::string>& given = options.engine_logs;
  if (!given.empty())
    return given.size() == 1 ? given.front() : index < given.size() ? given[index] : "";
  if (std::string own = LogFileOf(worker.expectation.pids); !own.empty()) return own;
  std::error_code failed;
  for (const std::string& target : options.targets)
    if (fs::is_regular_file(target, failed)) return target;
  return "";
}

// Everything about one worker that can be settled beforehand.
Result<bool> Prepare(RecordedWorker& worker, const RecordOptions& options, const RunFolder& folder,
                     const std::string& key, size_t index, Via& via, Preflight& preflight,
                     const std::stop_token& stop) {
  const std::string& name = worker.expectation.name;
  ProfileOptions& profile = worker.profile;
  profile = options.profile;
  profile.NameSession(fmt::format("{}-{}", key, name));
  worker.key = profile.key;
  worker.expectation.steps_asked = options.profile.steps;
  worker.expectation.by_stage = options.profile.IsOn("profile_by_stage");
  worker.expectation.pids = LocalProcesses(worker.worker);
  AddLocalFacts(worker.expectation.pids, worker.facts);
  worker.log = EngineLog(LogOf(worker, options, index));
  // One host, one clock; a Date header lags where the server's loop does.
  if (!worker.expectation.pids.empty())
    worker.facts.clock_offset_ns = worker.facts.clock_error_ns = 0;
  worker.expectation.facts = worker.facts;
  const Result<std::vector<StartField>> by_daemon = CheckFields("daemon", "", profile);
  if (via == Via::kAuto) {
    // The daemon does not stall the engine; its window has an end from the beginning.
    const bool counts = options.profile.steps || options.window_requests;
    const bool daemon = worker.facts.profiler.has_daemon &&
                        !(worker.facts.profiler.has_http && (counts || !by_daemon));
    via = daemon ? Via::kDaemon : Via::kHttp;
  }
  // ProfilerSession::EndOldSessions.
  const bool stops_first = via == Via::kHttp && worker.facts.kind == EngineKind::kVllm;
  TACHO_RETURN_IF_ERROR(CheckNoOpenSession(worker.worker, worker.facts, profile, stops_first));
  std::string own_folder = folder.In("traces/" + name);
  std::error_code ignored;
  fs::create_directories(own_folder, ignored);
  if (via == Via::kDaemon) {
    if (!worker.facts.profiler.has_daemon)
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: no process of it on this host was started with "
                              "KINETO_USE_DAEMON=1",
                              worker.worker.url));
    if (!by_daemon) return tl::unexpected(by_daemon.error().WithContext(worker.worker.url));
    worker.folder = own_folder;
    if (options.profile.steps || options.window_requests)
      return Fail(
          ErrorKind::kUsage,
          fmt::format("{}: a window by Kineto's daemon ends by time alone: give --duration TIME "
                      "instead of {}, or {} and record by HTTP",
                      worker.worker.url, options.profile.steps ? "--steps" : "--requests",
                      EngineRule(worker.facts.kind, worker.facts.version, "enable")));
    worker.expectation.steps_named = false;
    worker.expectation.by_daemon = true;
    return true;
  }
  Result<std::string> seen = FolderOf(worker, options, own_folder, profile, stop);
  Result<ControlRequest> start = PlanStart(worker.worker, worker.facts, profile);
  if (!start) return tl::unexpected(start.error());
  if (!seen) return tl::unexpected(seen.error());
  worker.folder = *seen;
  std::error_code failed;
  if (!options.trace_dir.empty() && !fs::exists(worker.folder, failed))
    preflight.remarks.push_back(
        fmt::format("--trace-dir {} is not there yet: is it where {} will make it?", worker.folder,
                    worker.worker.url));
  worker.start = *start;
  worker.expectation.steps_named =
      EngineRule(worker.facts.kind, worker.facts.version, "step_names") != "no";
  worker.stop =
      PlanStop(worker.worker, worker.facts, profile.steps && !profile.IsOn("profile_by_stage"));
  LookAtRoom(worker.folder, preflight.remarks);
  for (std::string& remark : StartRemarks(worker.worker, worker.facts, profile))
    preflight.remarks.push_back(std::move(remark));
  if (options.profile.steps && !worker.facts.profiler.reads_body && !worker.facts.has_metrics)
    preflight.remarks.push_back(fmt::format(
        "{}: neither counts steps by request nor tells them in metrics: the whole window is taken",
        worker.worker.url));
  return true;
}

void LookAtClock(const RecordedWorker& worker, std::vector<std::string>& remarks) {
  if (!worker.facts.clock_offset_ns) return;
  double seconds = static_cast<double>(*worker.facts.clock_offset_ns) / 1e9;
  double error = static_cast<double>(worker.facts.clock_error_ns.value_or(0)) / 1e9;
  if (seconds - error > kMuchClockOffset || seconds + error < -kMuchClockOffset)
    remarks.push_back(fmt::format("{}: its clock is {:+.1f} s (give or take {:.1f}) from ours",
                                  worker.worker.url, seconds, error));
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
    Result<bool> prepared = true;
    RecordedWorker worker;
    worker.worker = preflight.deployment.workers[i];
    worker.expectation.url = worker.worker.url;
    // As everywhere on the screens and in the run folder.
    worker.expectation.name = fmt::format("w{}", i);
    if (facts[i]) {
      worker.facts = *facts[i];
      prepared = Prepare(worker, options, folder, key, i, preflight.via, preflight, stop);
    } else {
      prepared = tl::unexpected(facts[i].error());
    }
    if (prepared) {
      LookAtClock(worker, preflight.remarks);
      preflight.workers.push_back(std::move(worker));
    } else {
      if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
      if (!first_error) first_error = prepared.error();
      const std::string_view why = prepared.error().message;
      const std::string url = worker.worker.url + ": ";
      worker.expectation.trouble = why.substr(why.starts_with(url) ? url.size() : 0);
      preflight.troubles.push_back(prepared.error().message);
      preflight.left_out.push_back(std::move(worker));
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
