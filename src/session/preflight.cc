#include "session/preflight.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>

#include "control/local_engine.h"
#include "control/vllm_command_line.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{30};  // a busy server answers slowly
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

// Where the worker's files will appear; "" when they will be fetched.
Result<std::string> FolderOf(const RecordedWorker& worker, const RecordOptions& options,
                             const std::string& own_folder, ProfileOptions& profile) {
  bool local = !worker.expectation.pids.empty();
  std::string engine_folder = worker.facts.profiler.folder.value_or("");
  if (worker.facts.kind == EngineKind::kSglang) {
    if (!profile.output_dir && local) profile.output_dir = own_folder;
    engine_folder = profile.output_dir.value_or("");
  }
  // Without its developer mode vLLM does not tell; its process does.
  for (int64_t pid : worker.expectation.pids)
    if (engine_folder.empty() && worker.facts.kind == EngineKind::kVllm)
      engine_folder = TraceFolderOfProcess(pid);
  if (!options.collect_from.empty()) return std::string();
  if (!options.trace_dir.empty()) return options.trace_dir;
  std::string seen = engine_folder.empty() ? "" : SeenFromHere(engine_folder, options, local);
  if (!seen.empty()) return seen;
  if (engine_folder.empty())
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: does not tell where it writes its traces: give --trace-dir DIR "
                            "(the same disk), or --collect-from HOST:DIR{}",
                            worker.worker.url,
                            worker.facts.kind == EngineKind::kSglang
                                ? ", with --output-dir DIR on its machine"
                                : ""));
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: writes its traces to {}, which is not seen from here: give --map "
                          "{}=DIR, or --collect-from HOST:{}",
                          worker.worker.url, engine_folder, engine_folder, engine_folder));
}

void LookAtRoom(const std::string& folder, std::vector<std::string>& remarks) {
  struct statvfs room {};
  if (folder.empty() || statvfs(folder.c_str(), &room) != 0) return;
  uint64_t bytes = uint64_t{room.f_bavail} * room.f_frsize;
  std::string remark = fmt::format("{}: only {} MB are free for traces", folder, bytes >> 20);
  if (bytes < kLittleRoom && std::find(remarks.begin(), remarks.end(), remark) == remarks.end())
    remarks.push_back(remark);
}

// Everything about one worker that can be settled beforehand.
Result<bool> Prepare(RecordedWorker& worker, const RecordOptions& options, const RunFolder& folder,
                     const std::string& key, size_t index, Via& via, Preflight& preflight) {
  worker.key = fmt::format("{}-w{}", key, index);
  worker.expectation.url = worker.worker.url;
  worker.expectation.steps_asked = options.profile.steps;
  worker.expectation.by_stage = options.profile.by_stage;
  worker.expectation.pids = LocalProcesses(worker.worker);
  worker.facts.profiler.has_daemon = AsksDaemon(worker.expectation.pids);
  // One host, one clock; a Date header lags where the server's loop does.
  if (!worker.expectation.pids.empty())
    worker.facts.clock_offset_ns = worker.facts.clock_error_ns = 0;
  worker.expectation.facts = worker.facts;
  if (via == Via::kAuto) {
    // The daemon neither stalls the engine nor counts its steps.
    bool daemon = worker.facts.profiler.has_daemon &&
                  !(worker.facts.profiler.has_http && options.profile.steps);
    via = daemon ? Via::kDaemon : Via::kHttp;
  }
  std::string own_folder = folder.In(fmt::format("traces/w{}", index));
  std::error_code ignored;
  fs::create_directories(own_folder, ignored);
  if (via == Via::kDaemon) {
    if (!worker.facts.profiler.has_daemon)
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: no process of it on this host was started with "
                              "KINETO_USE_DAEMON=1",
                              worker.worker.url));
    worker.folder = own_folder;
    worker.expectation.steps_named = false;
    return true;
  }
  ProfileOptions profile = options.profile;
  profile.key = worker.key;
  Result<std::string> seen = FolderOf(worker, options, own_folder, profile);
  Result<ControlRequest> start = PlanStart(worker.worker, worker.facts, profile);
  if (!start) return tl::unexpected(start.error());
  if (!seen) return tl::unexpected(seen.error());
  worker.folder = *seen;
  worker.start = *start;
  worker.stop = PlanStop(worker.worker, worker.facts);
  LookAtRoom(worker.folder, preflight.remarks);
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
  Result<Deployment> deployment = Discover(client, options.targets, stop);
  if (!deployment) return tl::unexpected(deployment.error());
  std::vector<Result<EngineFacts>> facts = ProbeAll(client, deployment->workers, kPatience, stop);
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");

  std::vector<std::string> urls;
  for (const Worker& worker : deployment->workers) urls.push_back(worker.url);
  Result<SessionLock> lock = SessionLock::Take(urls);
  if (!lock) return tl::unexpected(lock.error());
  Preflight preflight{.deployment = std::move(*deployment),
                      .workers = {},
                      .via = options.via,
                      .lock = std::move(*lock),
                      .remarks = {},
                      .troubles = {}};
  preflight.remarks = preflight.deployment.remarks;
  for (size_t i = 0; i < facts.size(); ++i) {
    Result<bool> prepared = true;
    RecordedWorker worker;
    worker.worker = preflight.deployment.workers[i];
    if (facts[i]) {
      worker.facts = *facts[i];
      prepared = Prepare(worker, options, folder, key, i, preflight.via, preflight);
    } else {
      prepared = tl::unexpected(facts[i].error());
    }
    if (prepared) {
      LookAtClock(worker, preflight.remarks);
      preflight.workers.push_back(std::move(worker));
    } else if (options.keep_going) {
      preflight.troubles.push_back(prepared.error().message);
    } else {
      Error error = prepared.error();
      if (facts.size() > 1) error.message += " (--keep-going records the others)";
      return tl::unexpected(error);
    }
  }
  if (preflight.workers.empty())
    return Fail(ErrorKind::kRemote,
                fmt::format("no worker can be profiled: {}", preflight.troubles.front()));
  return preflight;
}

}  // namespace tacho
