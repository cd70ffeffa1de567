#include "cli/launch/launch_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/pause.h"
#include "cli/engine/engine_options.h"
#include "cli/exit_status.h"
#include "cli/launch/launch_narrator.h"
#include "cli/launch/launch_options.h"
#include "cli/options/load_argument.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/terminal.h"
#include "cli/screen/without_interrupts.h"
#include "control/live/port_owner.h"
#include "control/live/session_lock.h"
#include "control/nsys/nsys_launch.h"
#include "launch/launch_folder.h"
#include "launch/launched_servers.h"
#include "text/format_number.h"
#include "text/json_writer.h"
#include "text/table.h"
#include "text/text_style.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenTurns{200};
constexpr milliseconds kEndsWithin{60'000};

int Print(const std::string& text) {
  const auto written = WriteStdout(text);
  return written ? kDone : Fails(written.error());
}

// Holds the servers until Ctrl-C, or until the last one has ended.
int Hold(LaunchedServers& servers, const std::stop_token& stop) {
  bool alive = true;
  while (alive && Pause(stop, kBetweenTurns)) {
    for (const std::string& ending : servers.Endings()) Complain(ending);
    alive = servers.AnyRuns();
  }
  if (!alive) Complain("no server is left");
  return alive ? kDone : kRemoteFailed;
}

// Starts the servers in `folder`, which exists except in a dry run. `between` holds signals back
// until an InterruptScope can end the launch.
Result<int> StartIn(const std::string& folder, TakenName taken, const LaunchArguments& a,
                    EngineKind kind, std::optional<WithoutInterrupts>& between) {
  const std::string& name = taken.name;
  TACHO_ASSIGN_OR_RETURN(const int64_t patience_ns,
                         NsArgument("--ready-within", a.engine.ready_within));
  TACHO_ASSIGN_OR_RETURN(PlanOfHere here,
                         PlanUntilInterrupted(kind, a.engine, folder, NsysSessionName(name)));
  if (a.dry_run) {
    between.reset();
    SayWarnings(here.plan);
    return Print(a.json ? LaunchJson(here.plan, nullptr, {}) : PlanText(here.plan));
  }

  TACHO_ASSIGN_OR_RETURN(HttpClientOptions http, RemoteOptions().Http());
  UseKeyOf(here.plan, {}, http);
  here.held.push_back(std::move(taken.lock));
  TACHO_ASSIGN_OR_RETURN(LaunchedServers servers,
                         LaunchedServers::Make(std::move(here), name, folder));
  TACHO_ASSIGN_OR_RETURN(const auto client, HttpClient::Create(http));
  InterruptScope interrupt(fmt::format("ending {} with all its processes", name));
  between.reset();
  SayWarnings(servers.plan());
  const std::string still_ending = fmt::format("tacho: {} is still being ended\n", name);
  const auto end = [&] {
    InterruptScope::SetLastWords(still_ending.c_str());
    EndAndSay(servers);
    InterruptScope::SetLastWords("");
  };
  const auto interrupted = [&]() -> Result<int> {
    end();
    return Fail(ErrorKind::kInterrupted, "interrupted");
  };
  LaunchNarrator narrator(LiveColumns(SurroundingsOf(STDERR_FILENO)), a.quiet);
  TACHO_RETURN_IF_ERROR(StartAndNarrate(servers, *client, milliseconds(patience_ns / 1'000'000),
                                        narrator, interrupt.token()));
  const std::vector<ProfilingProof> proofs = servers.Prove(*client, interrupt.token());
  if (interrupt.token().stop_requested()) return interrupted();
  const int printed = Print(a.json ? LaunchJson(servers.plan(), &servers.record(), proofs)
                                   : LaunchScreen(servers, proofs, narrator.Seconds()));
  if (a.detach && printed == kDone) {
    if (interrupt.token().stop_requested()) return interrupted();
    servers.Release();
    if (!a.quiet) Complain(fmt::format("{0} goes on; tacho launch stop {0} ends it", name));
    return kDone;
  }
  if (!a.quiet && printed == kDone) Complain("holding it; Ctrl-C ends it");
  const int status = printed == kDone ? Hold(servers, interrupt.token()) : printed;
  end();
  if (status == kDone && !a.quiet) Complain(name + " is ended");
  return status;
}

Result<int> Start(const LaunchArguments& a, EngineKind kind) {
  TACHO_ASSIGN_OR_RETURN(TakenName taken, TakeLaunchName(a.name, a.words[0]));
  std::string folder = LaunchFolderFor(a.out, taken.name);
  std::optional<WithoutInterrupts> between(std::in_place);
  if (a.dry_run) return StartIn(folder, std::move(taken), a, kind, between);
  TACHO_ASSIGN_OR_RETURN(folder, MakeLaunchFolder(folder));
  auto status = StartIn(folder, std::move(taken), a, kind, between);
  if (!status) RemoveEmptyParts(folder);
  return status;
}

Table LaunchTable(const std::vector<LaunchRecord>& running) {
  Table table;
  table.columns = {{"name", "name"},   {"engine", "engine"}, {"URL", "url"},
                   {"since", "since"}, {"preset", "preset"}, {"folder", "folder"}};
  for (const LaunchRecord& launch : running)
    table.rows.push_back({{launch.name, fmt::format("{} {}", launch.engine, launch.version),
                           fmt::format("{}", fmt::join(launch.targets(), " ")),
                           SinceText(launch.begun_unix_s), launch.preset, launch.folder}});
  return table;
}

Result<int> List(const LaunchArguments& a) {
  if (a.words.size() > 1)
    return Fail(ErrorKind::kUsage,
                fmt::format("tacho launch list takes no name: '{}'", VisibleText(a.words[1])));
  ForgetEndedLaunches();
  const std::vector<LaunchRecord> running = RunningLaunches();
  if (!a.json) {
    if (running.empty()) Complain("no launch of yours runs on this host");
    return Print(running.empty()
                     ? ""
                     : RenderText(LaunchTable(running),
                                  StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto)));
  }
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", 1);
  json.BeginArray("launches");
  for (const LaunchRecord& launch : running) {
    json.BeginObject();
    json.Fields("name", launch.name, "engine", launch.engine, "version", launch.version, "preset",
                launch.preset, "folder", launch.folder, "url", launch.url, "begun_unix_s",
                launch.begun_unix_s);
    json.Rows("servers", launch.servers, [&](const LaunchRecord::Server& s) {
      json.Fields("name", s.name, "url", s.url, "log", s.log, "traces", s.traces, "pid", s.pid,
                  "keeper", s.keeper);
    });
    json.End();
  }
  json.End();
  json.End();
  return Print(std::move(json).Finish());
}

Result<int> Stop(const LaunchArguments& a) {
  ForgetEndedLaunches();
  const std::vector<LaunchRecord> running = RunningLaunches();
  std::vector<std::string> names(a.words.begin() + 1, a.words.end());
  if (names.empty() && running.size() > 1) {
    std::string all;
    for (const LaunchRecord& launch : running) all += " " + launch.name;
    return Fail(ErrorKind::kUsage, fmt::format("several launches run:{}; name those to stop", all));
  }
  if (names.empty() && running.empty())
    return Fail(ErrorKind::kUsage, "no launch of yours runs on this host");
  if (names.empty()) names.push_back(running.front().name);
  std::vector<LaunchRecord> stopped;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(running, name, &LaunchRecord::name);
    if (found == running.end())
      return Fail(ErrorKind::kUsage,
                  fmt::format("no launch '{}' runs: tacho launch list", VisibleText(name)));
    stopped.push_back(*found);
  }
  for (const LaunchRecord& launch : stopped)
    for (const int64_t keeper : KeepersOf(launch)) kill(static_cast<pid_t>(keeper), SIGTERM);
  const InterruptScope interrupt("no longer waiting; what was asked to end goes on ending");
  const auto until = std::chrono::steady_clock::now() + kEndsWithin;
  for (const LaunchRecord& launch : stopped) {
    while (!KeepersOf(launch).empty() && std::chrono::steady_clock::now() < until &&
           Pause(interrupt.token(), kBetweenTurns)) {
    }
    if (!KeepersOf(launch).empty())
      return Fail(interrupt.token().stop_requested() ? ErrorKind::kInterrupted : ErrorKind::kRemote,
                  fmt::format("{} is still being ended", launch.name));
    ForgetEndedLaunches();
    const bool one = launch.servers.size() == 1;
    Complain(fmt::format("{} is ended; its {}: {}", launch.name, one ? "log" : "logs",
                         one ? launch.servers[0].log : launch.folder + "/logs"));
  }
  return kDone;
}

}  // namespace

Result<int> RunLaunch(const std::vector<std::string>& arguments) {
  LaunchArguments a;
  // The words after "--" are the engine's own arguments.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  TACHO_ASSIGN_OR_RETURN(
      const bool help,
      ParseArguments(LaunchSpec(a), std::vector<std::string>(arguments.begin(), dashes)));
  if (help) return Print(HelpText(LaunchSpecs().front()));
  if (a.words.empty())
    return Fail(ErrorKind::kUsage,
                "what to launch? tacho launch vllm -- MODEL; see 'tacho launch --help'");
  if (a.words[0] == "list") return List(a);
  if (a.words[0] == "stop") return Stop(a);
  TACHO_ASSIGN_OR_RETURN(const EngineKind kind, ParseEngine(a.words[0]));
  a.engine.words.assign(a.words.begin() + 1, a.words.end());
  if (dashes != arguments.end())
    a.engine.words.insert(a.engine.words.end(), dashes + 1, arguments.end());
  MoveSettings(a.engine);
  return Start(a, kind);
}

std::vector<CommandSpec> LaunchSpecs() {
  LaunchArguments arguments;
  CommandSpec list, stop;
  list.name = "launch list";
  list.summary = "the launches of yours that run on this host";
  list.usage = "[--json]";
  list.groups = {{"how", {{"--json", "", "as JSON", &arguments.json}}}};
  list.positionals = stop.positionals = &arguments.words;
  list.names = [] { return std::vector<std::string>(); };
  stop.name = "launch stop";
  stop.summary = "ends launches, with all their processes";
  stop.usage = "[NAME...]";
  stop.names = [] {
    std::vector<std::string> names;
    for (const LaunchRecord& launch : RunningLaunches()) names.push_back(launch.name);
    return names;
  };
  return {LaunchSpec(arguments), std::move(list), std::move(stop)};
}

}  // namespace tacho
