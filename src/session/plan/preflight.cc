#include "session/plan/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "control/launch/profile_needs.h"
#include "control/live/local_engine.h"
#include "control/live/operate.h"
#include "control/live/port_owner.h"
#include "control/version.h"
#include "ingest/nsys_sqlite/nsys_program.h"
#include "session/plan/preflight_folders.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr double kMuchClockOffset = 1.0;  // seconds

// The engine's own log: the given file, else that of its process on this host, else a launch log
// among the targets.
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

// Fills in the worker's identity and what is asked of it.
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

// The daemon is preferred because it does not stall the engine, unless HTTP is there and needed:
// the daemon's window has a fixed end from the beginning.
Via ViaFor(const RecordedWorker& worker, const RecordOptions& options) {
  const bool counts = options.profile.steps || options.window_requests;
  const bool fields_fit = CheckFields("daemon", "", worker.profile).has_value();
  const ProfilerFacts& profiler = worker.facts.profiler;
  return profiler.has_daemon && !(profiler.has_http && (counts || !fields_fit)) ? Via::kDaemon
                                                                                : Via::kHttp;
}

Checked<void> PrepareForDaemon(RecordedWorker& worker, const RecordOptions& options,
                               const std::string& folder_in_run) {
  const std::string& url = worker.worker.url;
  if (!worker.facts.profiler.has_daemon)
    return tl::unexpected(
        Finding{FindingId::kDaemonOff, url,
                "no process of it on this host was started with KINETO_USE_DAEMON=1"});
  if (const auto fields = CheckFields("daemon", "", worker.profile); !fields)
    return tl::unexpected(FindingOf(fields.error().WithContext(url), url));
  worker.folder = folder_in_run;
  // Otherwise Kineto would end the engine's process (KinetoDaemon::Listen).
  const std::string looks_in = DaemonSocketFolder(worker.expectation.pids);
  if (!options.socket_folder.empty() && options.socket_folder != looks_in)
    return tl::unexpected(Finding{
        FindingId::kRequestDoesNotFit, url,
        fmt::format(
            "--daemon-socket {} is not, to the letter, its KINETO_IPC_SOCKET_DIR ({}): Kineto "
            "ends a process that gets an answer from another name",
            options.socket_folder, looks_in.empty() ? "not set" : looks_in),
        "leave --daemon-socket out: tacho takes the engine's own"});
  if (options.profile.steps || options.window_requests)
    return tl::unexpected(Finding{
        FindingId::kRequestDoesNotFit, url, "a window by Kineto's daemon ends by time alone",
        fmt::format("give --duration TIME instead of {}, or {} and record by HTTP",
                    options.profile.steps ? "--steps" : "--requests",
                    EngineRule(worker.facts.kind, worker.facts.version, "enable"))});
  worker.expectation.steps_named = false;
  worker.expectation.by_daemon = true;
  return {};
}

// Selects one of several nsys sessions on this host: the one that the user named, or that of the
// worker's processes.
Checked<NsysSession> SessionOf(const RecordedWorker& worker, const std::string& asked,
                               const std::vector<NsysSession>& sessions) {
  std::string id, launched, names;
  for (const int64_t pid : worker.expectation.pids) {
    if (id.empty()) id = EnvironmentOf(pid, "NSYS_PROFILING_SESSION_ID").value_or("");
    // vLLM overwrites its environment with its process name.
    if (launched.empty()) launched = NsysSessionAbove(pid);
  }
  for (const NsysSession& session : sessions) {
    if (asked.empty() ? session.id == id || session.name == launched : session.name == asked)
      return session;
    names += (names.empty() ? "; those that run: " : ", ") + session.name;
  }
  if (names.empty()) names = "; none runs on this host";
  return tl::unexpected(
      Finding{FindingId::kNotUnderNsys, worker.worker.url,
              (!asked.empty() ? fmt::format("no session of nsys is called {}", asked)
               : worker.expectation.pids.empty()
                   ? "no process of it is seen on this host, so none of a session of nsys"
               : id.empty() && launched.empty()
                   ? "none of its processes runs under nsys launch"
                   : fmt::format("its session of nsys ({}) is not there any more",
                                 launched.empty() ? id : launched)) +
                  names});
}

Checked<void> PrepareForNsys(RecordedWorker& worker, const RecordOptions& options,
                             const std::string& folder_in_run,
                             const std::vector<NsysSession>& sessions,
                             std::vector<Finding>& findings) {
  const std::string& url = worker.worker.url;
  if (!worker.profile.fields.empty())
    return tl::unexpected(Finding{
        FindingId::kRequestDoesNotFit, url,
        fmt::format("{}: nsys records what the engine was launched with, not what a start asks for",
                    worker.profile.fields.begin()->first),
        "leave it out; nsys launch -t chooses what is traced"});
  const Checked<NsysSession> session = SessionOf(worker, options.nsys_session, sessions);
  if (!session) return tl::unexpected(session.error());
  if (session->Records())
    return tl::unexpected(
        Finding{FindingId::kNsysRecords, url,
                fmt::format("somebody records in its session {} of nsys (it is in state {})",
                            session->name, session->state),
                "nsys stop --session=" + ShellWord(session->name)});
  if (worker.expectation.pids.empty())
    return tl::unexpected(Finding{FindingId::kNotUnderNsys, url,
                                  "no process of it is seen on this host, so what is recorded "
                                  "cannot be held against it"});
  worker.nsys_session = session->name;
  worker.expectation.by_nsys = true;
  LookAtRoom(folder_in_run, findings);
  return {};
}

Checked<void> PrepareForHttp(RecordedWorker& worker, const RecordOptions& options,
                             const std::string& folder_in_run, std::vector<Finding>& findings,
                             const std::stop_token& stop) {
  ProfileOptions& profile = worker.profile;
  const std::string& url = worker.worker.url;
  if (std::optional<Finding> obstacle = FindObstacle(worker.worker, worker.facts, profile))
    return tl::unexpected(std::move(*obstacle));
  const Checked<std::string> folder = FolderOf(worker, options, folder_in_run, profile, stop);
  Result<ControlRequest> start = PlanStart(worker.worker, worker.facts, profile);
  if (!start) return tl::unexpected(FindingOf(start.error(), url));
  if (!folder) return tl::unexpected(folder.error());
  worker.folder = *folder;
  std::error_code failed;
  if (!options.trace_dir.empty() && !fs::exists(worker.folder, failed))
    findings.push_back({FindingId::kTraceDirMissing, "",
                        fmt::format("--trace-dir {} is not there yet: is it where {} will make it?",
                                    worker.folder, url)});
  worker.start = std::move(*start);
  // The host's ranges name the steps, so they need the CPU activity.
  const auto activities = profile.fields.find("activities");
  worker.expectation.steps_named =
      EngineRule(worker.facts.kind, worker.facts.version, "step_names") != "no" &&
      (activities == profile.fields.end() || activities->second.find("CPU") != std::string::npos);
  worker.stop =
      PlanStop(worker.worker, worker.facts, profile.steps && !profile.IsOn("profile_by_stage"));
  LookAtRoom(worker.folder, findings);
  std::ranges::move(FindRisks(worker.worker, worker.facts, profile), std::back_inserter(findings));
  if (options.profile.steps && !worker.facts.profiler.reads_body && !worker.facts.has_metrics)
    findings.push_back({FindingId::kStepsNotCounted, url,
                        "neither counts steps by request nor tells them in metrics: the whole "
                        "window is taken"});
  return {};
}

// Everything about one worker that can be settled beforehand.
Checked<void> Prepare(RecordedWorker& worker, const RecordOptions& options, const RunFolder& folder,
                      const std::string& key, size_t index,
                      const std::vector<NsysSession>& sessions, Preflight& preflight,
                      const std::stop_token& stop) {
  Identify(worker, options, key, index);
  if (preflight.via == Via::kAuto) preflight.via = ViaFor(worker, options);
  // ProfilerSession::EndOldSessions stops old sessions of such a worker before the start.
  const bool stops_first = preflight.via == Via::kHttp && worker.facts.kind == EngineKind::kVllm;
  if (std::optional<Finding> open =
          FindSessionInTheWay(worker.worker, worker.facts, worker.profile, stops_first))
    return tl::unexpected(std::move(*open));
  const std::string folder_in_run = folder.In("traces/" + worker.expectation.name);
  std::error_code ignored;
  fs::create_directories(folder_in_run, ignored);
  if (preflight.via == Via::kNsys)
    return PrepareForNsys(worker, options, folder_in_run, sessions, preflight.findings);
  return preflight.via == Via::kDaemon
             ? PrepareForDaemon(worker, options, folder_in_run)
             : PrepareForHttp(worker, options, folder_in_run, preflight.findings, stop);
}

// Prepares each worker in turn. Without keep_going, it stops at a blocked worker as soon as it is
// known whether --keep-going would help; ssh to a host that is down takes too long for that.
void PrepareAll(const std::vector<Result<EngineFacts>>& facts, const RecordOptions& options,
                const RunFolder& folder, const std::string& key,
                const std::vector<NsysSession>& sessions, const std::stop_token& stop,
                Preflight& preflight) {
  const auto enough = [&] {
    return !preflight.left_out.empty() && !options.keep_going &&
           (!preflight.workers.empty() || !options.collect_from.empty());
  };
  for (size_t i = 0; i < facts.size() && !enough(); ++i) {
    RecordedWorker worker;
    worker.worker = preflight.deployment.workers[i];
    worker.expectation.url = worker.worker.url;
    // The same name as on the screens and in the run folder.
    worker.expectation.name = fmt::format("w{}", i);
    Checked<void> prepared;
    if (facts[i]) {
      worker.facts = *facts[i];
      prepared = Prepare(worker, options, folder, key, i, sessions, preflight, stop);
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
                      .via = options.via,
                      .lock = std::move(lock),
                      .findings = {}};
  preflight.findings = preflight.deployment.findings;
  std::vector<NsysSession> sessions;
  if (options.via == Via::kNsys) {
    const std::optional<NsysProgram> nsys = FindNsys(stop);
    if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
    if (!nsys)
      return tl::unexpected(ErrorOf({FindingId::kNsysMissing, "",
                                     "no nsys was found here (in PATH, /opt/nvidia and "
                                     "/usr/local/cuda*)",
                                     "install Nsight Systems, or add its folder to $PATH"}));
    preflight.nsys.emplace(nsys->path, nsys->version);
    TACHO_ASSIGN_OR_RETURN(sessions, preflight.nsys->Sessions());
  }
  PrepareAll(facts, options, folder, key, sessions, stop, preflight);
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
