#include "cli/engine/engine_hold.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/find_program.h"
#include "base/pause.h"
#include "base/subprocess.h"
#include "cli/engine/engine_table.h"
#include "cli/exit_status.h"
#include "cli/options/load_argument.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/terminal.h"
#include "control/launch/profile_needs.h"
#include "control/live/held_engines.h"
#include "control/live/local_engine.h"
#include "control/vllm/vllm_command_line.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kWatchEvery{2'000}, kHoldTurn{100};
constexpr std::chrono::seconds kBetweenHoldLines{10};

// Shows on standard error the state of a hold (`tacho engine hold`). A terminal gets one line that
// is redrawn. Other outputs get a new line when the state has changed, at most every ten seconds.
class HoldLine {
 public:
  HoldLine(bool live, bool quiet)
      : columns_(live ? LiveColumns(SurroundingsOf(STDERR_FILENO)) : std::nullopt), quiet_(quiet) {}
  ~HoldLine() { Clear(); }

  void Show(const std::string& text) {
    if (quiet_) return;
    if (columns_) {
      DrawOnStderr("\r\x1b[K" + FitText(VisibleText(text), *columns_));
      open_ = true;
      return;
    }
    const auto now = steady_clock::now();
    if (text == said_ || (!said_.empty() && now - said_at_ < kBetweenHoldLines)) return;
    Complain(text);
    said_ = text, said_at_ = now;
  }
  // Prints a line that stays, even with --quiet.
  void Say(const std::string& text) {
    Clear();
    Complain(text);
  }
  void Clear() {
    if (open_) DrawOnStderr("\r\x1b[K");
    open_ = false;
  }
  [[nodiscard]] bool is_live() const { return columns_ && !quiet_; }

 private:
  const std::optional<size_t> columns_;
  const bool quiet_;
  bool open_ = false;
  std::string said_;
  steady_clock::time_point said_at_;
};

// The signs that an engine can be profiled, and where its traces go.
std::string ProfilingText(const ProbedWorker& probed) {
  const ProfilerFacts& profiler = probed.facts->profiler;
  std::string text =
      profiler.has_http ? "POST /start_profile is there" : "Kineto's daemon, --via daemon";
  for (const int64_t pid : probed.processes) {
    if (ProfilerConfigOfProcess(pid).empty()) continue;
    text += ", its profiler configuration is in the arguments of its process";
    break;
  }
  if (profiler.folder) text += ", traces go to " + *profiler.folder;
  return text;
}

// What the user should know before a recording: the findings of `tacho engine status`, and those
// from the engines' command lines.
std::vector<std::string> RemarksOf(const EngineLook& look) {
  std::vector<Finding> findings = look.deployment.findings;
  for (const ProbedWorker& probed : look.workers) {
    if (probed.open)
      findings.push_back(OpenSessionOn(probed.worker.url, *probed.open, *probed.facts));
    for (Finding& finding : CheckLaunchOf(probed.processes, *probed.facts)) {
      if (!finding.subject.empty())
        finding.evidence = fmt::format("{}: {}", finding.subject, finding.evidence);
      finding.subject = probed.worker.url;
      findings.push_back(std::move(finding));
    }
  }
  std::ranges::move(NeedsOf(look.workers), std::back_inserter(findings));
  return GroupedTexts(findings);
}

// The state of a hold: "holding for 3:05: 2 of 2 engines up, 1 asleep, requests: 12 running, 3
// waiting".
std::string StateText(HttpClient& client, const HeldEngines& held, milliseconds patience,
                      std::chrono::seconds since, const std::stop_token& stop) {
  const std::string clock = fmt::format("{}:{:02}", since.count() / 60, since.count() % 60);
  if (const std::string recorder = held.Recorder(); !recorder.empty())
    return fmt::format("holding for {}: {}", clock, recorder);
  size_t up = 0, asleep = 0;
  double running = 0, waiting = 0;
  for (const ProbedWorker& probed : held.look().workers) {
    up += probed.facts ? 1 : 0;
    asleep += probed.facts && probed.facts->asleep.value_or(false) ? 1 : 0;
  }
  bool counted = false;
  for (const auto& snapshot :
       ReadMetricsAll(client, held.look().deployment.workers, patience, stop)) {
    if (!snapshot) continue;
    for (const EngineCounters& engine : snapshot->engines) {
      counted |= engine.running.has_value();
      running += engine.running.value_or(0), waiting += engine.waiting.value_or(0);
    }
  }
  std::string text = fmt::format("holding for {}: {} of {} up", clock, up,
                                 FormatCounted(held.look().workers.size(), "engine"));
  if (asleep > 0) text += fmt::format(", {} asleep", asleep);
  if (counted) text += fmt::format(", requests: {:.0f} running, {:.0f} waiting", running, waiting);
  return text;
}

// Waits until everything is ready and locked.
Result<void> Await(HeldEngines& held, const EngineOptions& options, milliseconds most,
                   HoldLine& line, const std::stop_token& stop) {
  const auto begin = steady_clock::now();
  std::string woken;
  while (true) {
    auto look = held.Look(stop);
    if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
    if (!look) return tl::unexpected<Error>(look.error());
    const bool wakes = look->only_asleep && options.wake;
    if (look->waits_for.empty() || wakes) {
      TACHO_RETURN_IF_ERROR(held.Take(*look, stop));
      if (!wakes) return {};
      if (const std::string before = std::exchange(woken, held.Woken()); before != woken) {
        line.Say("woke " + woken);
        continue;
      }
    }
    line.Show("waiting: " + look->waits_for);
    if (most.count() > 0 && steady_clock::now() - begin > most)
      return Fail(ErrorKind::kRemote,
                  fmt::format("not ready in time (--ready-within): {}", look->waits_for));
    if (!Pause(stop, kWatchEvery)) return Fail(ErrorKind::kInterrupted, "interrupted");
  }
}

std::vector<std::string> EnvironmentFor(const EngineLook& look) {
  std::string workers;
  for (const ProbedWorker& probed : look.workers)
    workers += (workers.empty() ? "" : " ") + probed.worker.url;
  std::vector<std::string> environment = {fmt::format("{}={}", kHoldVariable, getpid()),
                                          "TACHO_WORKERS=" + workers};
  if (!look.deployment.router_url.empty())
    environment.push_back("TACHO_ROUTER=" + look.deployment.router_url);
  return environment;
}

int Print(const EngineLook& look, bool json) {
  std::string text;
  if (json) {
    text = DeploymentJson(look.deployment, look.workers);
  } else {
    text = RenderText(WorkersTable(look.workers),
                      StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto));
  }
  const auto written = WriteStdout(text);
  return written ? kDone : Fails(written.error());
}

// Once all engines are ready, prints them and how to use them.
int Announce(const HeldEngines& held, const EngineOptions& options) {
  const EngineLook& look = held.look();
  const bool has_command = !options.command.empty();
  // With a command, standard output belongs to the command.
  const int printed = has_command && !options.json ? kDone : Print(look, options.json);
  if (options.quiet || printed != kDone) return printed;
  std::vector<std::pair<std::string, std::string>> proofs;
  for (const ProbedWorker& probed : look.workers)
    proofs.emplace_back(probed.worker.url, ProfilingText(probed));
  for (const std::string& text : GroupedTexts(proofs)) Complain(text);
  for (const std::string& text : RemarksOf(look)) Complain(text);
  std::string targets;
  for (const std::string& target : options.Targets()) targets += " " + ShellWord(target);
  Complain(fmt::format(
      "holding {}{}", FormatCounted(look.workers.size(), "engine"),
      has_command
          ? ""
          : fmt::format("; in another terminal: {}={} tacho record{}; {}", kHoldVariable, getpid(),
                        targets,
                        options.hold_for == "0"
                            ? "Ctrl-C releases"
                            : fmt::format("released after {}, or by Ctrl-C", options.hold_for))));
  return kDone;
}

// Holds until the command has ended, the time is over, or Ctrl-C comes. Returns the exit status.
Result<int> Hold(HttpClient& client, HeldEngines& held, const EngineOptions& options,
                 milliseconds patience, milliseconds most, HoldLine& line,
                 const std::stop_token& stop) {
  std::optional<ForegroundProgram> program;
  if (!options.command.empty()) {
    TACHO_ASSIGN_OR_RETURN(program,
                           ForegroundProgram::Start(options.command, EnvironmentFor(held.look())));
  }
  const auto begin = steady_clock::now();
  auto next_look = begin + kWatchEvery;
  while (true) {
    const auto now = steady_clock::now();
    if (program && program->Ended()) return *program->Ended();
    if (most.count() > 0 && now - begin > most) return kDone;
    if (now >= next_look) {
      for (const std::string& change : held.Watch(stop)) line.Say(change);
      if (line.is_live())
        line.Show(StateText(client, held, patience,
                            std::chrono::duration_cast<std::chrono::seconds>(now - begin), stop));
      next_look = steady_clock::now() + kWatchEvery;
    }
    if (!Pause(stop, kHoldTurn)) break;
  }
  if (!program) return kDone;
  line.Say("waiting for the command to end; a second Ctrl-C leaves everything as it is");
  if (!InterruptScope::FromTerminal()) program->AskToEnd();
  while (!program->Ended()) Pause({}, kHoldTurn);
  return *program->Ended();
}

}  // namespace

Result<int> HoldEngines(HttpClient& client, const EngineOptions& options, milliseconds patience) {
  TACHO_ASSIGN_OR_RETURN(const int64_t within, NsArgument("--ready-within", options.ready_within));
  TACHO_ASSIGN_OR_RETURN(const int64_t most, NsArgument("--for", options.hold_for));
  if (!options.command.empty() && !IsProgram(options.command[0]) &&
      ProgramsInPath(options.command[0]).empty())
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: there is no such program", VisibleText(options.command[0])));
  HeldEngines held(client, {.targets = options.Targets(),
                            .least_workers = static_cast<size_t>(options.least_workers.value_or(1)),
                            .wake = options.wake,
                            .patience = patience});
  InterruptScope interrupt("releasing the engines");
  const std::stop_token stop = interrupt.token();
  std::string last_words;
  Result<int> status = kDone;
  {
    HoldLine waiting(true, options.quiet);
    const auto ready = Await(held, options, milliseconds(within / 1'000'000), waiting, stop);
    if (!ready) status = tl::unexpected<Error>(ready.error());
  }
  if (const std::string woken = held.Woken(); !woken.empty()) {
    last_words = fmt::format("tacho: left awake; tacho engine sleep {}\n", woken);
    InterruptScope::SetLastWords(last_words.c_str());
  }
  if (status && Announce(held, options) != kDone) status = kUnreadableInput;
  if (status && *status == kDone) {
    HoldLine line(options.command.empty(), options.quiet);
    status = Hold(client, held, options, ProbePatience(patience), milliseconds(most / 1'000'000),
                  line, stop);
  }
  bool failed = false;
  for (const std::string& text : held.Release(failed))
    if (failed || !options.quiet) Complain(text);
  InterruptScope::SetLastWords("");
  if (status && *status == kDone && failed) return kRemoteFailed;
  return status;
}

}  // namespace tacho
