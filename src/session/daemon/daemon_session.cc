#include "session/daemon/daemon_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "base/pause.h"
#include "base/time.h"
#include "control/live/local_engine.h"
#include "session/daemon/daemon_collect.h"
#include "session/daemon/daemon_folder.h"
#include "session/daemon/daemon_round.h"
#include "session/files/trace_folder.h"
#include "session/http/flush_progress.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Every process polls each 5 s, but some sleep.
constexpr int64_t kFirstQuestionNs = 12'000 * kNsPerMs;
constexpr std::chrono::milliseconds kLookAtTraces{200};
constexpr size_t kMostNamed = 64;
// The time between the request for the second window and its start. It is longer than for the first
// window, because a process may miss some polls: up to five answers to it may come late.
constexpr int64_t kLongLeadMs = KinetoDaemon::kLeadMs + 4 * KinetoDaemon::kPollMs;

// Whether one of `pids` reported at its last poll that it traces. That poll must be recent, because
// the process may have died since.
bool Tracing(const KinetoDaemon& daemon, const std::vector<int64_t>& pids, int64_t now_ns) {
  const std::vector<DaemonProcess> processes = daemon.Processes();
  return std::any_of(processes.begin(), processes.end(), [&](const DaemonProcess& process) {
    return process.tracing && now_ns - process.asked_ns < 4 * KinetoDaemon::kPollMs * kNsPerMs &&
           IsAmong(process.pid, pids);
  });
}

}  // namespace

bool DaemonSession::Start(std::stop_token stop) {
  stop_ = std::move(stop);
  window_.socket_folder = options_.socket_folder.empty()
                              ? DaemonSocketFolder(workers().front().expectation.pids)
                              : options_.socket_folder;
  auto daemon = KinetoDaemon::Listen(window_.socket_folder);
  if (!daemon) {
    window_.findings.push_back({FindingId::kDaemonUnavailable, "", daemon.error().message});
    return false;
  }
  daemon_ = std::move(*daemon);
  askers_ = Meet();
  if (askers_.empty() || stop_.stop_requested()) return false;
  for (const auto& [index, pids] : askers_)
    folders_.emplace(index, DaemonFolder(workers()[index].expectation.pids,
                                         fs::path(workers()[index].folder).parent_path().string()));
  Ask("kineto", KinetoDaemon::kLeadMs);
  return true;
}

void DaemonSession::Stop(const std::function<void()>& on_the_way, std::stop_token stop,
                         const OnLate&) {
  stop_ = std::move(stop);
  on_interrupt_ = on_the_way;
  if (!folders_.empty()) {
    WaitForTheFiles();
    if (MayTryAgain()) TryAgain();
  }
  if (!interrupted_) on_the_way();
  if (!window_.begun()) return;
  recording_.profiled.begin_ns = window_.begin_ns;
  recording_.profiled.end_ns = window_.end_ns;
  observer_.OnDone("profile",
                   fmt::format("{} by the daemon, {} processes",
                               SecondsText(recording_.window.window_ns), window_.processes));
}

void DaemonSession::Collect(std::stop_token) {
  if (window_.begun())
    std::ranges::move(BringRound(round_, *daemon_, workers()),
                      std::back_inserter(window_.findings));
  std::ranges::copy(window_.findings, std::back_inserter(recording_.findings));
  recording_.daemon = std::move(window_);
}

// The processes that polled the daemon, by worker.
DaemonRound::Askers DaemonSession::AskersOf() const {
  DaemonRound::Askers askers;
  for (const DaemonProcess& process : daemon_->Processes()) {
    for (size_t i = 0; i < workers().size(); ++i) {
      const std::vector<int64_t>& pids = workers()[i].expectation.pids;
      bool is_its = IsAmong(process.pid, pids) ||
                    std::any_of(process.ancestors.begin(), process.ancestors.end(),
                                [&](int64_t pid) { return IsAmong(pid, pids); });
      if (is_its) askers[i].push_back(process.pid);
    }
  }
  return askers;
}

// Waits until all processes have polled. Every process polls once in a period, so all are known
// after a period in which no new one polled.
DaemonRound::Askers DaemonSession::Meet() {
  const int64_t begin = MonotonicNs();
  int64_t changed = begin;
  DaemonRound::Askers askers;
  size_t known = 0;
  while (!stop_.stop_requested()) {
    askers = AskersOf();
    size_t count = 0;
    for (const auto& [worker, pids] : askers) count += pids.size();
    const int64_t now = MonotonicNs();
    if (count != known) changed = now;
    known = count;
    if (askers.size() == workers().size() &&
        now - changed > (KinetoDaemon::kPollMs + 500) * kNsPerMs)
      break;
    if (now - begin > kFirstQuestionNs + KinetoDaemon::kPollMs * kNsPerMs) break;
    observer_.OnProgress("rendezvous", fmt::format("{} processes have asked", count));
    Pause(stop_, kLookAtTraces);
  }
  if (stop_.stop_requested()) return askers;
  for (size_t i = 0; i < workers().size(); ++i)
    if (!askers.contains(i))
      window_.findings.push_back(workers()[i].expectation.trouble.emplace(
          Finding{.id = FindingId::kDaemonNotAsked,
                  .subject = workers()[i].worker.url,
                  .evidence = "no process of it asked the daemon: it looks for another socket "
                              "(KINETO_IPC_SOCKET_DIR), or PyTorch is not loaded yet",
                  .brief = "no process of it asked the daemon"}));
  return askers;
}

void DaemonSession::Ask(const std::string& stem, int64_t lead_ms) {
  DaemonRound::Places places;
  for (const auto& [index, folder] : folders_) places[index] = folder.place();
  round_ = DaemonRound(askers_, std::move(places),
                       {.stem = stem,
                        .duration_ms = recording_.window.window_ns / kNsPerMs,
                        .record_shapes = options_.profile.IsOn("record_shapes"),
                        .with_stack = options_.profile.IsOn("with_stack")});
  round_.Ask(*daemon_, lead_ms);
  TellOfRound();
  SayWhatIsLeft();
}

// Copies the round's facts into the recording's window and the workers' expectations.
void DaemonSession::TellOfRound() {
  window_.processes = round_.told().size();
  window_.request = round_.ConfigText();
  window_.begin_ns = round_.begin_ns();
  window_.end_ns = round_.end_ns();
  for (const auto& [index, pids] : round_.askers()) {
    WorkerExpectation& expectation = workers()[index].expectation;
    expectation.start_unix_ns = round_.start_unix_ms() * kNsPerMs;
    expectation.stop_unix_ns = expectation.start_unix_ns + recording_.window.window_ns;
  }
}

bool DaemonSession::MayTryAgain() const {
  return !interrupted_ && !stop_.stop_requested() && !Late().empty() &&
         std::none_of(round_.told().begin(), round_.told().end(),
                      [&](int64_t pid) { return round_.Writes(pid, *daemon_); });
}

// Records a second window in all processes at the same time, because the first one lacks some
// ranks. The second window replaces the first only if it has more traces: it may be interrupted,
// and processes may die.
void DaemonSession::TryAgain() {
  RemarkAgain(
      fmt::format("{} of {} processes were too late for the window: another one is taken of all",
                  Late().size(), round_.told().size()));
  round_.Close(*daemon_, round_.Files());
  const DaemonRound first = round_;
  to_surpass_ = first.Traces(*daemon_);
  Ask("kineto-again", kLongLeadMs);
  WaitForTheFiles();
  if (round_.Traces(*daemon_) > *to_surpass_) return first.RemoveFiles();
  RemarkAgain("the other window has no more traces: the first one counts");
  round_.RemoveFiles();
  round_ = first;
  for (const auto& [index, pids] : round_.askers()) workers()[index].expectation.trouble.reset();
  TellOfRound();
}

void DaemonSession::RemarkAgain(std::string text) {
  observer_.OnRemark(text);
  window_.findings.push_back({FindingId::kWindowTakenAgain, "", std::move(text)});
}

void DaemonSession::SayWhatIsLeft() const {
  std::string text = fmt::format(
      "no process can be told to end its window early: it ends at {}, and those with events then "
      "write\n",
      TimeOfDay(round_.start_unix_ms() * kNsPerMs + recording_.window.window_ns));
  const std::vector<int64_t>& told = round_.told();
  for (size_t i = 0; i < std::min(told.size(), kMostNamed); ++i)
    text += "  " + round_.FileOf(told[i]) + "\n";
  if (told.size() > kMostNamed)
    text += fmt::format("  and {} more of the same form\n", told.size() - kMostNamed);
  observer_.OnLeftBehind(text + "nothing else goes on; there is no run.json\n");
}

// Handles the user's Ctrl-C. Returns false if there is nothing left to wait for.
bool DaemonSession::Interrupt() {
  interrupted_ = true;
  on_interrupt_();
  round_.KeepOnly(daemon_->Withdraw());
  window_.processes = round_.told().size();
  for (const auto& [index, pids] : round_.askers()) {
    if (!pids.empty()) continue;
    workers()[index].expectation.start_unix_ns = workers()[index].expectation.stop_unix_ns = 0;
    workers()[index].expectation.trouble =
        Finding{FindingId::kInterrupted, workers()[index].worker.url,
                "interrupted before it was told to profile"};
  }
  if (round_.told().empty()) {
    window_.begin_ns = window_.end_ns = 0;
    observer_.OnLeftBehind("");
    return false;
  }
  SayWhatIsLeft();
  // The second window gets at most one trace from each process that heard of it. If that is no more
  // than the first window gave, there is nothing to wait for.
  if (to_surpass_ && round_.told().size() <= *to_surpass_) return false;
  observer_.OnRemark(fmt::format(
      "interrupted: {} processes have their window, which cannot be cut short: it ends "
      "in "
      "{} and is kept; Ctrl-C again ends tacho at once",
      round_.told().size(), SecondsText(std::max<int64_t>(0, window_.end_ns - MonotonicNs()))));
  return true;
}

// Waits until the window is over and the files have stopped growing.
void DaemonSession::WaitForTheFiles() {
  FolderState last;
  int64_t changed = MonotonicNs();
  while (true) {
    if (stop_.stop_requested() && !interrupted_ && !Interrupt()) return;
    const FolderState now = round_.Files();
    const int64_t time = MonotonicNs();
    if (now != last) changed = time;
    last = now;
    uint64_t bytes = 0;
    for (const auto& [path, state] : now) bytes += state.bytes;
    const size_t whole = round_.Whole(), all = round_.told().size();
    observer_.OnProgress(time < window_.end_ns ? "profile" : "flush",
                         time < window_.begin_ns
                             ? "begins in " + SecondsText(window_.begin_ns - time)
                             : FilesText(time, whole, bytes));
    round_.Look(*daemon_, now);
    SayWhoDied(time);
    const size_t late = round_.Late(*daemon_, now).size();
    if (late == all || (time > window_.end_ns && whole + late == all)) break;
    // Kineto builds a large file in memory before it writes the first byte. Meanwhile the process
    // goes on polling and reports that it traces.
    if (Tracing(*daemon_, round_.told(), time)) changed = time;
    const int64_t quiet = (whole > 0 ? 10'000 : 60'000) * kNsPerMs;
    if (time > window_.end_ns && time - std::max(changed, window_.end_ns) > quiet) break;
    if (options_.patience.count() > 0 &&
        time > window_.end_ns + options_.patience.count() * kNsPerMs)
      break;
    std::this_thread::sleep_for(kLookAtTraces);
  }
}

// Reports dead processes as they die, once for each worker: at the window's end nobody could tell
// when they died.
void DaemonSession::SayWhoDied(int64_t now) {
  for (const auto& [index, pids] : round_.askers()) {
    const auto dead = std::ranges::count_if(pids, [](int64_t pid) { return !ProcessLives(pid); });
    if (dead == 0 || now >= window_.end_ns || !said_dead_.insert(index).second) continue;
    observer_.OnRemark(fmt::format(
        "{}: {} of its {} processes died; the window goes on to its end, which Kineto's daemon "
        "cannot move",
        workers()[index].worker.url, dead, pids.size()));
  }
}

std::string DaemonSession::FilesText(int64_t now, size_t whole, uint64_t bytes) const {
  const std::string files = fmt::format("{} of {} files, {:.1f} MB", whole, round_.told().size(),
                                        static_cast<double>(bytes) / 1e6);
  return now < window_.end_ns
             ? fmt::format("ends in {}, {}", SecondsText(window_.end_ns - now), files)
             : files;
}

}  // namespace tacho
