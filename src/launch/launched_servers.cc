#include "launch/launched_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/pause.h"
#include "base/words.h"
#include "control/engine_folder.h"
#include "control/engine_type.h"
#include "control/live/port_owner.h"
#include "control/live/probe.h"
#include "control/log/engine_failure.h"
#include "control/log/log_line.h"
#include "control/log/log_stream.h"
#include "control/nsys/nsys_control.h"
#include "control/nsys/nsys_launch.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"
#include "launch/command_wrappers.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kBetweenLooks{300};
constexpr milliseconds kHealthWithin{3000};
constexpr milliseconds kRefusesFor{5000};  // the wait ends if a key is refused for so long
constexpr int kUnauthorized = 401;
constexpr size_t kTail = 8 << 10, kLongestLine = 300;

// The end of a file, at most `most` bytes.
std::string TailOf(const std::string& path, size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file.seekg(0, std::ios::end)) return "";
  const auto size = static_cast<size_t>(file.tellg());
  std::string text(std::min(size, most), '\0');
  file.seekg(static_cast<std::streamoff>(size - text.size()));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::string LastLineOf(const std::string& log) {
  const std::string tail = TailOf(log, kTail);
  std::string_view text = tail;
  std::string last;
  while (!text.empty()) {
    const LogLine line = ReadLogLine(TakeLine(text));
    if (!Trim(line.text).empty()) last = Trim(line.text);
  }
  return last.substr(0, kLongestLine);
}

std::string WhyEnded(const PlannedServer& server, int status, const KeptProgram& program) {
  if (program.keeper_was_killed())
    return fmt::format("{}: its keeper, process {}, was killed; tacho has killed what it kept",
                       server.name, program.keeper());
  std::string why = fmt::format("{} ended with exit status {}{}", server.name, status,
                                status == 128 + 9 ? " (killed: out of memory?)" : "");
  std::ifstream log(server.log, std::ios::binary);
  const LogFailures failures = ReadFailures(log);
  const auto failure = failures.end ? failures.end->cause : failures.first;
  if (!failure) {
    const std::string last = LastLineOf(server.log);
    return fmt::format("{}; its log shows no error: {}{}{}", why, server.log,
                       last.empty() ? "" : "\nits last line: ", last);
  }
  return fmt::format("{}; the error in its log, {}:{}{}:\n{}{}{}", why, server.log, failure->line,
                     failure->process.empty() ? "" : ", by " + failure->process, failure->text,
                     failure->led_line == 0 ? "" : "\nwhich led to:\n", failure->led_to);
}

std::string NextStep(const PlannedServer& server) {
  return "\nnext: tacho doctor " + ShellWord(server.log);
}

// The number of the line in which the engine prints its arguments, if that line has the trace
// folder.
std::optional<uint64_t> LineWithFolder(const std::string& log, const std::string& folder) {
  std::ifstream file(log, std::ios::binary);
  std::optional<uint64_t> found;
  uint64_t number = 0;
  ForEachLogLine(file, {}, [&](std::string_view line) {
    ++number;
    if (line.find("profiler_config") != line.npos && line.find(folder) != line.npos) found = number;
    return !found;
  });
  return found;
}

}  // namespace

Result<LaunchedServers> LaunchedServers::Make(PlanOfHere here, const std::string& name,
                                              const std::string& folder) {
  LaunchedServers made;
  made.held_ = std::move(here.held);
  PlannedLaunch plan = std::move(here.plan);
  std::vector<PlannedServer> servers = plan.servers;
  if (plan.router) servers.push_back(*plan.router);
  for (PlannedServer& server : servers) {
    std::error_code error;
    for (const fs::path& needed : {fs::path(server.log).parent_path(), fs::path(server.traces)})
      if (!needed.empty() && !IsStore(needed.native()) && !fs::create_directories(needed, error) &&
          error)
        return Fail(ErrorKind::kOutput,
                    fmt::format("{} cannot be made: {}", needed.string(), error.message()));
    TACHO_ASSIGN_OR_RETURN(
        KeptProgram program,
        KeptProgram::Make(
            {.arguments = server.command, .environment = server.environment, .log = server.log}));
    made.servers_.push_back({std::move(server), std::move(program)});
  }
  made.record_ = {.name = name,
                  .engine = std::string(NameOf(plan.kind)),
                  .version = plan.version,
                  .preset = plan.preset,
                  .folder = folder,
                  .url = plan.url(),
                  .begun_unix_s = std::time(nullptr),
                  .servers = {}};
  made.plan_ = std::move(plan);
  return made;
}

Result<void> LaunchedServers::Begin(Server& server) {
  server.log = EngineLog(server.planned.log);
  TACHO_RETURN_IF_ERROR(WithContext(server.program.Begin(), server.planned.command[0]));
  record_.servers.push_back({server.planned.name, server.planned.url, server.planned.log,
                             server.planned.traces, server.program.pid(), server.program.keeper(),
                             StartTicksOf(server.program.keeper())});
  return KeepLaunch(record_);
}

// A process that listens on the server's port but does not belong to the server; 0 if there is
// none. Also 0 if tacho cannot tell: nsys and Slurm start engines outside the keeper's process
// tree.
int64_t LaunchedServers::OtherListener(const Server& server) const {
  const auto url = ParseUrl(server.planned.url);
  if (!url || plan_.preset == "nsys" || HasOtherEnvironment(server.planned.command)) return 0;
  const std::vector<int64_t> listening = PidsListeningOn(url->port);
  const std::vector<int64_t> own = ProcessTree({server.program.keeper()});
  const bool is_own = std::ranges::any_of(
      listening, [&](int64_t pid) { return std::ranges::binary_search(own, pid); });
  return listening.empty() || is_own ? 0 : listening.front();
}

// "loading the weights for 12 s"; if the phase is not known, the last line of the server's log.
std::string LaunchedServers::WhatItDoes(Server& server) {
  const auto now = steady_clock::now();
  if (const std::string& phase = server.log.StartPhase(); phase != server.phase) {
    server.phase = phase;
    server.phase_began = now;
  }
  if (server.phase.empty()) return LastLineOf(server.planned.log);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - server.phase_began);
  return fmt::format("{} for {} s", server.phase, seconds.count());
}

NotReady LaunchedServers::WhyNot(HttpClient& client, const Server& server,
                                 const std::stop_token& stop) const {
  const std::string& url = server.planned.url;
  const bool router = server.planned.traces.empty();
  const auto held = [&]() -> std::optional<NotReady> {
    const int64_t other = OtherListener(server);
    if (other == 0) return std::nullopt;
    return NotReady{fmt::format("its port is held by another program, process {}", other)};
  };
  if (auto why = held()) return *std::move(why);
  NotReady why = router ? WhyRouterNotReady(client, url, kHealthWithin, stop)
                        : WhyNotReady(client, url, plan_.kind, kHealthWithin, stop);
  // The other program may have taken the port just now, and answered.
  return why.text.empty() ? held().value_or(std::move(why)) : why;
}

Result<void> LaunchedServers::AwaitHealth(HttpClient& client, size_t first, size_t count,
                                          steady_clock::time_point until, const Progress& progress,
                                          const std::stop_token& stop) {
  std::vector<bool> healthy(servers_.size());
  std::vector<NotReady> why(servers_.size());
  std::vector<std::optional<steady_clock::time_point>> refuses_since(servers_.size());
  for (size_t left = count; left > 0;) {
    for (size_t i = first; i < first + count; ++i) {
      Server& server = servers_[i];
      if (const auto status = server.program.Ended()) {
        server.ending_told = true;
        return Fail(ErrorKind::kRemote,
                    WhyEnded(server.planned, *status, server.program) + NextStep(server.planned));
      }
      if (healthy[i]) continue;
      progress(server.planned.name, WhatItDoes(server));
      why[i] = WhyNot(client, server, stop);
      healthy[i] = why[i].text.empty();
      left -= healthy[i] ? 1 : 0;
      if (why[i].status != kUnauthorized) {
        refuses_since[i].reset();
      } else if (const auto now = steady_clock::now(); !refuses_since[i]) {
        refuses_since[i] = now;
      } else if (now - *refuses_since[i] > kRefusesFor) {
        return Fail(ErrorKind::kRemote,
                    fmt::format("{}: {}: it needs an API key: set TACHO_API_KEY to it",
                                server.planned.name, why[i].text));
      }
    }
    if (left == 0) break;
    if (!Pause(stop, kBetweenLooks)) return Fail(ErrorKind::kInterrupted, "interrupted");
    if (steady_clock::now() < until) continue;
    for (size_t i = first; i < first + count; ++i) {
      const PlannedServer& late = servers_[i].planned;
      if (healthy[i]) continue;
      return Fail(
          ErrorKind::kRemote,
          fmt::format("{} was not ready in time (--ready-within): {}; the last line of {}: {}{}",
                      late.name, why[i].text, late.log, LastLineOf(late.log), NextStep(late)));
    }
  }
  return {};
}

Result<void> LaunchedServers::Start(HttpClient& client, milliseconds patience,
                                    const Progress& progress, std::stop_token stop) {
  const auto until =
      patience.count() > 0 ? steady_clock::now() + patience : steady_clock::time_point::max();
  const size_t engines = plan_.servers.size();
  for (const Server& server : servers_)
    if (const auto url = ParseUrl(server.planned.url)) client.NameServer(*url);
  for (size_t i = 0; i < engines; ++i) TACHO_RETURN_IF_ERROR(Begin(servers_[i]));
  TACHO_RETURN_IF_ERROR(AwaitHealth(client, 0, engines, until, progress, stop));
  if (plan_.router) {
    TACHO_RETURN_IF_ERROR(Begin(servers_.back()));
    TACHO_RETURN_IF_ERROR(AwaitHealth(client, engines, 1, until, progress, stop));
  }
  held_.clear();
  return {};
}

std::vector<ProfilingProof> LaunchedServers::Prove(HttpClient& client, std::stop_token stop) const {
  std::vector<Worker> workers;
  for (const PlannedServer& server : plan_.servers) {
    workers.push_back({.url = server.url, .dp_ranks = {}, .found_in = {}});
  }
  const auto facts = ProbeAll(client, workers, kProbePatience, stop);
  std::vector<ProfilingProof> proofs;
  for (size_t i = 0; i < workers.size(); ++i) {
    const PlannedServer& server = plan_.servers[i];
    const int64_t pid = servers_[i].program.pid();
    const EngineType& engine = TypeOf(plan_.kind);
    proofs.push_back(
        {.in_arguments = engine.WasGivenFolder(pid, server.traces),
         .logged = engine.LogsFolder() ? LineWithFolder(server.log, server.traces) : std::nullopt,
         .has_route = facts[i] ? std::optional(facts[i]->profiler.has_http) : std::nullopt});
  }
  return proofs;
}

std::vector<std::string> LaunchedServers::Endings() {
  std::vector<std::string> endings;
  for (Server& server : servers_) {
    const auto status = server.program.Ended();
    if (!status || server.ending_told || server.program.pid() == 0) continue;
    server.ending_told = true;
    endings.push_back(WhyEnded(server.planned, *status, server.program));
  }
  return endings;
}

bool LaunchedServers::AnyRuns() {
  return std::ranges::any_of(servers_, [](Server& s) { return !s.program.Ended(); });
}

std::vector<std::string> LaunchedServers::End() {
  std::vector<std::string> stuck;
  for (Server& server : servers_) server.program.AskToEnd();
  for (Server& server : servers_)
    if (std::string why = server.program.End(); !why.empty())
      stuck.push_back(server.planned.name + ": " + why);
  // Ends what nsys left: the keeper has ended all other processes, unless it was killed.
  if (plan_.preset == "nsys" && !record_.servers.empty())
    EndNsysSession(servers_[0].planned.command[0], NsysSessionName(record_.name));
  held_.clear();  // also frees the launch's name for another launch
  if (!record_.servers.empty()) ForgetEndedLaunches();
  record_.servers.clear();
  return stuck;
}

void LaunchedServers::Release() {
  for (Server& server : servers_) server.program.Release();
  record_.servers.clear();  // the record stays on disk, so the launch can still be found
}

}  // namespace tacho
