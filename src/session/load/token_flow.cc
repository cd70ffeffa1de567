#include "session/load/token_flow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/monotonic_clock.h"
#include "base/pause.h"
#include "session/http/flush_progress.h"
#include "session/http/step_count.h"
#include "session/http/window_end.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kLookForTokens{50};
constexpr std::chrono::milliseconds kPatienceForFlow{3000};
constexpr int64_t kMostSilenceNs = 120'000'000'000;
constexpr int64_t kSilenceToSayNs = 5'000'000'000;  // after this time a silence is reported
constexpr int64_t kLookAtCountersNs = 500'000'000;
// The longest wait for the remaining workers behind a router, which may send a worker nothing while
// the others get requests.
constexpr int64_t kForAllBehindRouterNs = 10'000'000'000;

}  // namespace

std::vector<Finding> TokenFlow::Await(const TokenWait& wait, const Recording& recording) {
  std::vector<Finding> silent_ones;
  if (!load_.Runs()) return silent_ones;
  const int64_t begin = MonotonicNs();
  const int64_t patience_ns = options_.patience.count() * 1'000'000;
  const int64_t most_ns = wait.most_ns.value_or(patience_ns > 0 ? patience_ns : kMostSilenceNs);
  std::vector<Watched> watched;
  for (size_t n = 0; n < wait.which.size(); ++n)
    watched.push_back({wait.which[n], wait.since_ns.empty() ? begin : wait.since_ns[n]});
  before_.clear();
  now_.clear();
  next_counters_ns_ = 0;
  life_.emplace(client_);
  ReadCounters(recording);
  bool said = false;
  while (true) {
    std::vector<Watched> silent;
    for (Watched& one : watched) {
      one.flows = one.flows || Look(one, recording) != Flow::kSilent;
      if (!one.flows) silent.push_back(one);
    }
    if (silent.empty() || load_.HasEnded() || (wait.done && wait.done())) break;
    const int64_t waited_ns = MonotonicNs() - begin;
    if (load_.BehindRouter() && silent.size() < watched.size() && waited_ns > kForAllBehindRouterNs)
      break;
    if (AllDead(silent, recording)) break;
    if (waited_ns > most_ns) {
      ReadCounters(recording);
      for (const Watched& one : silent) {
        if (CountersMoved(one.worker).value_or(false)) continue;  // it works, but slowly
        const std::string brief = fmt::format("sent no token for {}", SecondsText(waited_ns));
        silent_ones.push_back({.id = FindingId::kTakesNoRequests,
                               .subject = recording.workers[one.worker].worker.url,
                               .evidence = fmt::format("it {}: {}", brief, WhatItDoes(one.worker)),
                               .brief = brief});
      }
      break;
    }
    if (load_.BehindRouter() || waited_ns > kSilenceToSayNs) ReadCounters(recording);
    if (waited_ns > kSilenceToSayNs) {
      std::vector<std::string> urls;
      for (const Watched& one : silent) urls.push_back(recording.workers[one.worker].worker.url);
      const std::string text =
          fmt::format("no token from {} for {}", fmt::join(urls, " and "), SecondsText(waited_ns));
      observer_.OnProgress(wait.phase, text + load_.ProgressText());
      if (!std::exchange(said, true)) {
        findings_.push_back(
            {FindingId::kWaitsForTokens, "",
             fmt::format("{} ({}): the load goes on, and the {} waits for them, for up to {}{}",
                         text, WhatItDoes(silent.front().worker), wait.phase, SecondsText(most_ns),
                         patience_ns > 0 ? " (--timeout)" : "; --timeout sets that")});
        observer_.OnRemark(findings_.back().Text());
      }
    }
    if (!Pause(stop_, kLookForTokens)) break;
  }
  return silent_ones;
}

bool TokenFlow::AwaitAll(DriverWindow& window, std::string_view phase, int64_t since_ns,
                         const Recording& recording) {
  TokenWait wait{.phase = phase, .which = window.running()};
  wait.since_ns.assign(wait.which.size(), since_ns);
  for (Finding& silent : Await(wait, recording)) {
    const auto worker = std::ranges::find(recording.workers, silent.subject,
                                          [](const RecordedWorker& w) { return w.worker.url; });
    window.LeaveOut(static_cast<size_t>(worker - recording.workers.begin()), std::move(silent));
  }
  return window.EnoughRun();
}

void TokenFlow::AwaitStarted(const DriverWindow& window, const Recording& recording) {
  TokenWait wait{.phase = "window", .which = window.running(), .done = [&] {
                   const std::optional<int64_t> latest_ns = window.LatestStopNs();
                   return window.FilesThere() || (latest_ns && MonotonicNs() >= *latest_ns);
                 }};
  const int64_t now_ns = MonotonicNs();
  for (size_t i : wait.which) {
    const std::optional<ControlOutcome>& started = recording.workers[i].started;
    wait.since_ns.push_back(started ? started->answered_ns : now_ns);
  }
  Await(wait, recording);
}

Flow TokenFlow::Look(const Watched& watched, const Recording& recording) const {
  const RecordLoad::Answers answers = load_.AnswersOf(recording.workers[watched.worker].worker.url);
  if (answers.failures_in_row >= RecordLoad::kFewestFailures) return Flow::kFails;
  if (answers.nothing_due) return Flow::kFlows;
  if (answers.last_token_ns <= watched.since_ns) return Flow::kSilent;
  // Behind a router the token may have come from another worker.
  return !load_.BehindRouter() || CountersMoved(watched.worker).value_or(true) ? Flow::kFlows
                                                                               : Flow::kSilent;
}

void TokenFlow::ReadCounters(const Recording& recording) {
  if (MonotonicNs() < next_counters_ns_) return;
  now_ = ReadMetricsAll(client_, WorkersOf(recording), kPatienceForFlow, stop_);
  if (before_.empty()) before_ = now_;
  next_counters_ns_ = MonotonicNs() + kLookAtCountersNs;
}

// Whether the worker's counters have moved since the first look; nullopt if its metrics do not show
// it.
std::optional<bool> TokenFlow::CountersMoved(size_t worker) const {
  if (worker >= before_.size() || !before_[worker] || !now_[worker]) return std::nullopt;
  return tacho::CountersMoved(*before_[worker], *now_[worker]);
}

// Whether all silent workers are known to be dead.
bool TokenFlow::AllDead(const std::vector<Watched>& silent, const Recording& recording) {
  std::vector<size_t> which;
  for (const Watched& one : silent) which.push_back(one.worker);
  const auto& dead = life_->Dead(which, recording.workers);
  return std::ranges::all_of(which, [&](size_t worker) { return dead.contains(worker); });
}

// What the worker's metrics say, so that the user can tell a slow worker from one that takes no
// requests.
std::string TokenFlow::WhatItDoes(size_t worker) const {
  if (worker >= now_.size() || !now_[worker]) return "it does not answer /metrics either";
  double running = 0, waiting = 0;
  bool known = false;
  for (const EngineCounters& engine : now_[worker]->engines) {
    known = known || engine.running;
    running += engine.running.value_or(0);
    waiting += engine.waiting.value_or(0);
  }
  if (!known) return "its metrics do not tell what it does";
  if (running + waiting == 0) return "by its metrics no request reached it";
  const std::optional<bool> moved = CountersMoved(worker);
  return fmt::format("by its metrics {:.0f} requests run and {:.0f} wait{}", running, waiting,
                     !moved   ? ""
                     : *moved ? ", and it takes steps"
                              : ", and no step ends");
}

}  // namespace tacho
