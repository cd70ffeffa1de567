#include "cli/engine/engine_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "cli/engine/engine_hold.h"
#include "cli/engine/engine_options.h"
#include "cli/engine/engine_table.h"
#include "cli/exit_status.h"
#include "cli/options/duration_argument.h"
#include "cli/record/record_narrator.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/slow_notice.h"
#include "cli/screen/terminal.h"
#include "control/engine_type.h"
#include "control/launch/profile_needs.h"
#include "control/live/probed_workers.h"
#include "control/live/start_stop.h"
#include "control/live/stops_under_way.h"
#include "load/result/records.h"
#include "session/files/trace_folder.h"
#include "session/http/flush_progress.h"
#include "session/run_folder/run_folder.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

// Everything that an action of `tacho engine` needs.
struct EngineScene {
  EngineOptions options;
  std::unique_ptr<HttpClient> client;
  std::chrono::milliseconds patience{0};
  Deployment deployment;
  std::vector<ProbedWorker> workers;
  TextStyle style;
  std::stop_token stop;
};

int Print(const EngineScene& scene, const std::string& text, const std::string& json) {
  auto written = WriteStdout(scene.options.json ? json : text);
  return written ? kDone : Fails(written.error());
}

void SayRemarks(const EngineScene& scene) {
  for (const Finding& finding : scene.deployment.findings) Complain(VisibleText(finding.Text()));
  for (const ProbedWorker& probed : scene.workers)
    if (!probed.facts) Complain(VisibleText(probed.facts.error().message));
}

bool AllAnswered(const EngineScene& scene) {
  return std::all_of(scene.workers.begin(), scene.workers.end(),
                     [](const ProbedWorker& w) { return w.facts.has_value(); });
}

int List(const EngineScene& scene) {
  std::string text;
  for (const ProbedWorker& probed : scene.workers) text += probed.worker.url + "\n";
  for (const Finding& finding : scene.deployment.findings) Complain(VisibleText(finding.Text()));
  auto written =
      WriteStdout(scene.options.json ? DeploymentJson(scene.deployment, scene.workers) : text);
  return written ? kDone : Fails(written.error());
}

int Status(const EngineScene& scene, bool all_live) {
  const bool healthy = all_live && AllAnswered(scene);
  int printed = Print(scene, RenderText(WorkersTable(scene.workers), scene.style),
                      DeploymentJson(scene.deployment, scene.workers));
  SayRemarks(scene);
  for (const std::string& text : GroupedTexts(NeedsOf(scene.workers))) Complain(text);
  if (printed != kDone) return printed;
  return healthy ? kDone : kRemoteFailed;
}

int Conclude(const EngineScene& scene, const std::vector<ControlOutcome>& outcomes) {
  int printed = Print(scene, OutcomesText(outcomes, scene.style),
                      OutcomesJson(scene.options.Action(), outcomes));
  SayRemarks(scene);
  if (printed != kDone) return printed;
  const bool good = SpreadOf(outcomes).taken == outcomes.size();
  if (scene.stop.stop_requested()) return kInterrupted;
  return good && AllAnswered(scene) ? kDone : kRemoteFailed;
}

// Sends the stop requests and waits for the answers: an engine answers only after it has written
// its traces. Meanwhile shows the same progress as `tacho record`.
std::vector<ControlOutcome> AwaitStops(const EngineScene& scene,
                                       const std::vector<PlannedStop>& planned) {
  constexpr std::chrono::milliseconds kLook{200};
  StopsUnderWay stops(*scene.client, planned.size(), scene.patience);
  for (size_t i = 0; i < planned.size(); ++i) stops.Ask(i, planned[i]);
  Narrator narrator(LiveColumns(SurroundingsOf(STDERR_FILENO)), false);
  const int64_t begin = MonotonicNs();
  bool said = false;
  while (!stops.AllAnswered(kLook)) {
    if (scene.stop.stop_requested()) stops.GiveUp();
    const std::chrono::nanoseconds elapsed(MonotonicNs() - begin);
    if (elapsed < kPatienceWithoutWords) continue;
    if (!std::exchange(said, true))
      Complain("waiting for the flush, which may take minutes; Ctrl-C leaves the engine to end it");
    std::vector<FlushState> flushes;
    for (size_t i = 0; i < planned.size(); ++i)
      flushes.push_back({planned[i].request.url, {}, stops.TookNs(i), ""});
    narrator.OnProgress("stop", FlushText(elapsed.count(), flushes));
  }
  narrator.Clear();
  std::vector<ControlOutcome> outcomes;
  for (auto& [i, outcome] : stops.Take()) outcomes.push_back(std::move(outcome));
  return outcomes;
}

// Stops the profilers of the workers that answered the probe.
std::vector<ControlOutcome> SendStops(const EngineScene& scene) {
  std::vector<PlannedStop> stops;
  std::vector<bool> begin_later;
  for (const ProbedWorker& probed : scene.workers) {
    if (!probed.facts) continue;
    const bool by_stage = probed.open && probed.open->by_stage;
    const bool counted = probed.open && probed.open->steps && !by_stage;
    stops.push_back({*probed.facts, PlanStop(probed.worker, *probed.facts, counted)});
    begin_later.push_back(by_stage);
  }
  std::vector<ControlOutcome> outcomes = AwaitStops(scene, stops);
  for (size_t i = 0; i < outcomes.size(); ++i)
    if (begin_later[i] && outcomes[i].verdict == ControlVerdict::kWasSo)
      outcomes[i].said +=
          "; a session by stage that has not begun cannot be taken back: it begins with the next "
          "request";
  return outcomes;
}

Result<SessionLock> Lock(const EngineScene& scene) {
  return LockAll(scene.deployment.workers, "tacho engine " + scene.options.Action());
}

// Whether the session certainly has written no file (an idle engine writes none). False if that
// cannot be known, because file names do not contain the session's key or because this host cannot
// see the folder.
bool WroteNothing(const ProbedWorker& probed, const std::string& folder) {
  std::error_code error;
  if (!probed.open || !probed.is_local() || !KeyNamesFiles(*probed.facts) ||
      !std::filesystem::is_directory(folder, error))
    return false;
  return std::ranges::none_of(ReadFolder(folder), [&](const auto& file) {
    return NameHasKey(file.first, probed.open->key);
  });
}

// Says where the traces of the stopped workers are, and which command reads them.
void NameTheFolders(const EngineScene& scene, const std::vector<ControlOutcome>& outcomes) {
  for (const ProbedWorker& probed : scene.workers) {
    const auto outcome = std::ranges::find(outcomes, probed.worker.url, &ControlOutcome::url);
    // A session with a number of steps ends by itself.
    const bool counted = probed.open && probed.open->steps;
    const bool stopped =
        outcome != outcomes.end() && (outcome->verdict == ControlVerdict::kDone ||
                                      (outcome->verdict == ControlVerdict::kWasSo && counted));
    if (!stopped) continue;
    std::string folder = probed.open ? probed.open->folder : "";
    if (folder.empty()) folder = probed.facts->profiler.folder.value_or("");
    // vLLM answers 200 even if the profiler that is stopped never ran.
    const bool sure = probed.open && outcome->verdict == ControlVerdict::kDone;
    const std::string session = probed.open ? fmt::format(" of session {}", probed.open->key) : "";
    if (folder.empty()) {
      Complain(fmt::format("{}: traces{}{}: {}", probed.worker.url, session,
                           sure ? "" : ", if there are any", UnknownFolderText(*probed.facts)));
      continue;
    }
    if (WroteNothing(probed, folder)) {
      Complain(
          fmt::format("{}: session {} has written no file into {}: no request reached it, or "
                      "it still writes",
                      probed.worker.url, probed.open->key, VisibleText(folder)));
      continue;
    }
    std::string line = fmt::format("{}: {}{} {} {}", probed.worker.url,
                                   sure ? "its traces" : "what it recorded, if anything,", session,
                                   sure ? "are in" : "is in", VisibleText(folder));
    if (probed.is_local()) {
      line += ": tacho analyze " + ShellWord(folder);
      if (probed.open && KeyNamesFiles(*probed.facts)) line += " --session " + probed.open->key;
    } else {
      line += " on its machine";
    }
    Complain(line);
  }
}

Result<int> Stop(const EngineScene& scene) {
  Result<SessionLock> lock = Lock(scene);
  // Other failures, such as a missing folder for locks, must not keep profilers running.
  if (!lock && lock.error().kind == ErrorKind::kRemote && !scene.options.force)
    return Fail(ErrorKind::kRemote, lock.error().message +
                                        "; nothing was stopped: its own Ctrl-C ends it well, "
                                        "--force stops the profilers under it");
  const std::vector<ControlOutcome> outcomes = SendStops(scene);
  const int status = Conclude(scene, outcomes);
  if (!scene.options.json) NameTheFolders(scene, outcomes);
  return status;
}

// If some did not start, says how to stop the others.
void NameTheRest(const std::vector<ControlOutcome>& outcomes) {
  // A worker without an answer may have accepted the start.
  std::string others;
  size_t refused = 0;
  for (const ControlOutcome& outcome : outcomes) {
    refused += outcome.verdict != ControlVerdict::kDone;
    if (outcome.verdict != ControlVerdict::kRefused) others += " " + outcome.url;
  }
  if (refused == 0 || others.empty()) return;
  Complain(fmt::format("{} of {} did not start; this stops the rest: tacho engine stop{}", refused,
                       outcomes.size(), others));
}

void NameTheStop(const EngineScene& scene) {
  std::string targets;
  for (const std::string& target : scene.options.Targets()) targets += " " + ShellWord(target);
  const ServerOptions& server = scene.options.remote.server;
  if (!server.api_key.empty()) targets += " --api-key " + WrittenWord(Secret::kKey, "");
  if (!server.api_key_file.empty()) targets += " --api-key-file " + ShellWord(server.api_key_file);
  if (server.send_key_to_workers) targets += " --send-key-to-workers";
  if (server.insecure) targets += " --insecure";
  if (!server.ca_file.empty()) targets += " --cacert " + ShellWord(server.ca_file);
  Complain(fmt::format("when it has seen enough: tacho engine stop{}", targets));
}

// Plans a session with the same options on each worker. kRemote: a worker already has an open
// session.
Result<std::vector<PlannedStart>> PlanStarts(const EngineScene& scene, const ProfileOptions& asked,
                                             const std::string& key) {
  std::vector<PlannedStart> starts;
  std::optional<Error> busy;
  for (const ProbedWorker& probed : scene.workers) {
    // Two workers may write to one folder, so each worker's session gets a name of its own: KEY-w0,
    // KEY-w1, ..., as in a recording.
    ProfileOptions profile = asked;
    profile.NameSession(scene.workers.size() == 1 ? key
                                                  : fmt::format("{}-w{}", key, starts.size()));
    TACHO_ASSIGN_OR_RETURN(ControlRequest planned,
                           PlanStart(probed.worker, *probed.facts, profile));
    starts.push_back({.worker = probed.worker,
                      .facts = *probed.facts,
                      .request = std::move(planned),
                      .mark = {.key = profile.key,
                               .steps = profile.steps,
                               .by_stage = profile.IsOn("profile_by_stage"),
                               .instance = {},
                               .folder = profile.output_dir.value_or("")}});
    for (const Finding& risk : FindRisks(probed.worker, *probed.facts, profile))
      Complain(risk.Text());
    if (scene.options.force) continue;
    if (const auto open = FindSessionInTheWay(probed.worker, *probed.facts, profile)) {
      if (busy) Complain(busy->message);
      busy = ErrorOf(*open);
    }
  }
  if (busy) return tl::unexpected<Error>(*busy);
  return starts;
}

Result<int> Start(const EngineScene& scene) {
  // Starts all workers or none: a session that lacks one of eight workers is useless.
  if (!AllAnswered(scene)) {
    SayRemarks(scene);
    return Fail(ErrorKind::kRemote, "nothing was started: not every worker answers");
  }
  TACHO_ASSIGN_OR_RETURN(ProfileOptions asked, scene.options.profile.Profile());
  const std::string key =
      scene.options.key.empty() ? "tacho-" + DateStamp(ReadClocks().unix_ns) : scene.options.key;
  TACHO_ASSIGN_OR_RETURN(SessionLock lock, Lock(scene));
  TACHO_ASSIGN_OR_RETURN(const std::vector<PlannedStart> starts, PlanStarts(scene, asked, key));
  if (scene.options.force) SendStops(scene);
  const StartedSessions started = StartAll(*scene.client, starts, scene.patience, scene.stop);
  for (const Finding& finding : started.findings) Complain(finding.Text());
  if (!scene.options.json)
    Complain(fmt::format("session{}: {}",
                         starts.size() == 1 ? " " + starts.front().mark.key
                                            : fmt::format("s {} to {}", starts.front().mark.key,
                                                          starts.back().mark.key),
                         SpreadOf(started.outcomes).Text("worker")));
  const int status = Conclude(scene, started.outcomes);
  NameTheRest(started.outcomes);
  if (status == kDone && !scene.options.json && !asked.steps) NameTheStop(scene);
  return status;
}

// Why a request to sleep or wake may end SGLang's scheduler; "" if it will not. SGLang has no route
// that reports whether it sleeps. Its resume_memory_occupation raises a KeyError if SGLang is
// awake, and its release_memory_occupation asserts that no request runs (both in 0.5.23).
std::string RiskOfSleep(const EngineScene& scene, const ProbedWorker& probed, bool sleep) {
  if (!TypeOf(probed.facts->kind).MayDieOfSleep() || scene.options.force) return "";
  if (!sleep)
    return "SGLang does not say whether it sleeps, and its scheduler ends at a wake while it is "
           "awake";
  const auto snapshot =
      ReadMetricsAll(*scene.client, {probed.worker}, scene.patience, scene.stop).front();
  const bool is_counted =
      snapshot && std::ranges::any_of(snapshot->engines, [](const auto& engine) {
        return engine.running.has_value();
      });
  if (!is_counted)
    return "SGLang without --enable-metrics does not say whether requests run, and its scheduler "
           "ends at a sleep while some do";
  double requests = 0;
  for (const EngineCounters& engine : snapshot->engines)
    requests += engine.running.value_or(0) + engine.waiting.value_or(0);
  if (requests == 0) return "";
  return fmt::format("{} in it, and SGLang's scheduler ends at a sleep while some run",
                     FormatCounted(static_cast<uint64_t>(requests), "request"));
}

Result<int> Sleep(const EngineScene& scene, bool sleep) {
  // A recording or a hold needs the engines awake.
  if (sleep)
    for (const Worker& worker : scene.deployment.workers)
      if (const auto owner = SessionLock::OwnerOf(worker.url))
        return tl::unexpected(ErrorOf(BeingProfiled(worker.url, *owner)));
  std::vector<ControlRequest> requests;
  std::vector<EngineFacts> facts;
  for (const ProbedWorker& probed : scene.workers) {
    if (!probed.facts) continue;
    if (sleep && !scene.options.force)
      if (const auto open = FindOpenSession(probed.worker, *probed.facts))
        return Fail(ErrorKind::kRemote,
                    fmt::format("{0}: {1}; nothing was sent. tacho engine stop {0} ends it",
                                probed.worker.url, StartedText(*open)));
    if (const std::string risk = RiskOfSleep(scene, probed, sleep); !risk.empty())
      return Fail(ErrorKind::kRemote,
                  fmt::format("{}: {}; nothing was sent. If you know better: tacho engine {} "
                              "--force {}",
                              probed.worker.url, risk, scene.options.Action(), probed.worker.url));
    requests.push_back(
        PlanSleep(probed.worker, *probed.facts, sleep, scene.options.level.value_or(1)));
    facts.push_back(*probed.facts);
  }
  std::vector<ControlOutcome> outcomes =
      SendAll(*scene.client, requests, facts, scene.patience, scene.stop);
  for (ControlOutcome& outcome : outcomes)
    if (outcome.status == 404)
      outcome.said =
          "no such route: start vLLM with VLLM_SERVER_DEV_MODE=1 and --enable-sleep-mode";
  return Conclude(scene, outcomes);
}

// profile_rollout.py accepts blanks between activities: "--activities CPU GPU".
void TakeActivities(EngineOptions& options) {
  std::vector<std::string>& activities = options.profile.activities;
  if (activities.empty()) return;
  std::erase_if(options.words, [&](const std::string& word) {
    bool activity = word == "CPU" || word == "GPU" || word == "XPU" || word == "MEM" ||
                    word == "CUDA_PROFILER" || word == "RPD";
    if (activity) activities.push_back(word);
    return activity;
  });
}

}  // namespace

Result<int> RunEngine(const std::vector<std::string>& arguments) {
  EngineScene scene;
  // The words after "--" are the command that `hold` runs.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) scene.options.command.assign(dashes + 1, arguments.end());
  TACHO_ASSIGN_OR_RETURN(auto parsed,
                         ParseArguments(EngineSpec(scene.options),
                                        std::vector<std::string>(arguments.begin(), dashes)));
  if (parsed) {
    const std::vector<std::string>& actions = EngineActions();
    const auto action =
        std::find_first_of(arguments.begin(), arguments.end(), actions.begin(), actions.end());
    auto written =
        WriteStdout(HelpText(EngineSpec(scene.options, action == arguments.end() ? "" : *action)));
    return written ? kDone : Fails(written.error());
  }
  TakeActivities(scene.options);
  TACHO_RETURN_IF_ERROR(CheckEngineOptions(scene.options));
  TACHO_ASSIGN_OR_RETURN(auto timeout,
                         WithContext(ParseDuration(scene.options.remote.timeout), "--timeout"));
  scene.patience = std::chrono::milliseconds(timeout.ns / 1'000'000);
  scene.style = StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto);

  TACHO_ASSIGN_OR_RETURN(const auto http, scene.options.remote.Http());
  TACHO_ASSIGN_OR_RETURN(scene.client, HttpClient::Create(http));
  if (scene.options.Action() == "hold")
    return HoldEngines(*scene.client, scene.options, scene.patience);

  InterruptScope interrupt("no longer waiting for answers");
  scene.stop = interrupt.token();
  const std::chrono::milliseconds patience = ProbePatience(scene.patience);
  std::optional<SlowNotice> notice;
  notice.emplace(StillWaitingText(patience), kPatienceWithoutWords);
  TACHO_ASSIGN_OR_RETURN(scene.deployment,
                         Discover(*scene.client, scene.options.Targets(), scene.stop, patience));
  scene.workers = ProbeWorkers(*scene.client, scene.deployment.workers, patience, scene.stop);
  const std::string action = scene.options.Action();
  const bool all_live = action != "status" || AskForLife(*scene.client, scene.workers);
  notice.reset();

  if (action == "list") return List(scene);
  if (action == "status") return Status(scene, all_live);
  if (action == "start") return Start(scene);
  if (action == "stop") return Stop(scene);
  return Sleep(scene, action == "sleep");
}

std::vector<CommandSpec> EngineSpecs() {
  EngineOptions options;
  std::vector<CommandSpec> specs = {EngineSpec(options)};
  for (const std::string& action : EngineActions()) specs.push_back(EngineSpec(options, action));
  return specs;
}

}  // namespace tacho
