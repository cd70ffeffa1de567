#include "session/http/profiler_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <utility>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "control/live/liveness.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kLookForStarts{20};
constexpr int64_t kSlowStartNs = 250'000'000;

}  // namespace

ProfilerSession::ProfilerSession(HttpClient& client, const RecordOptions& options,
                                 RecordObserver& observer, Recording& recording)
    : DriverWindow(options, observer, recording),
      client_(client),
      files_(recording.workers, options),
      stops_(client, recording.workers.size(), options.patience) {}

bool ProfilerSession::Start(std::stop_token stop) {
  SayWhatIsLeft();
  const int64_t begin = ReadClocks().unix_ns;
  const std::map<size_t, ControlOutcome> started = SendStarts(std::move(stop));
  std::vector<ControlOutcome> outcomes;
  std::vector<size_t> failed;
  for (const auto& [i, outcome] : started) {
    outcomes.push_back(outcome);
    RecordedWorker& worker = recording_.workers[i];
    worker.started = outcome;
    worker.expectation.start_unix_ns = begin;
    worker.expectation.key = FileKeyOf(worker);
    if (outcome.verdict != ControlVerdict::kDone) failed.push_back(i);
  }
  recording_.starts = SpreadOf(outcomes);
  for (const auto& [i, why] : WhyDeadOf(failed)) {
    RecordedWorker& worker = recording_.workers[i];
    const ControlOutcome& outcome = started.at(i);
    std::string trouble(outcome.Words());
    if (outcome.verdict == ControlVerdict::kNoAnswer && options_.patience.count() > 0)
      trouble += ": it hangs, or its profiler takes longer (--timeout)";
    if (outcome.taken && worker.trial_start_ns && !worker.figures)
      trouble +=
          "; tacho's own trial saw no step, so its session may still be open and block this one: "
          "the next steps end it";
    Fail(worker, why.empty() ? TroubleOf(worker, FindingId::kDidNotStart, "did not start", trouble)
                             : TroubleOf(worker, FindingId::kEngineDied, "was dead at its start",
                                         WithLog(worker, why)));
  }
  // Does not stop a session that somebody else started.
  std::erase_if(running_, [&](size_t i) { return started.at(i).taken; });
  SayWhatIsLeft();
  observer_.OnDone("start", recording_.starts.Text("profiler"));
  return failed.empty() || (options_.keep_going && failed.size() < started.size());
}

// Two waves of starts. If a profiler's first start took seconds in a trial, the slow profilers
// start first: otherwise the quick ones would record while they wait for the slow ones.
std::vector<std::vector<size_t>> ProfilerSession::Waves() const {
  int64_t slowest = 0;
  for (size_t i : running_)
    slowest = std::max(slowest, recording_.workers[i].trial_start_ns.value_or(0));
  std::vector<std::vector<size_t>> waves(2);
  for (size_t i : running_) {
    const int64_t took = recording_.workers[i].trial_start_ns.value_or(0);
    waves[slowest > kSlowStartNs && 2 * took < slowest ? 1 : 0].push_back(i);
  }
  return waves;
}

std::vector<PlannedStart> ProfilerSession::PlanStarts(const std::vector<size_t>& wave) const {
  std::vector<PlannedStart> starts;
  for (size_t i : wave) {
    const RecordedWorker& worker = recording_.workers[i];
    starts.push_back({.worker = worker.worker,
                      .facts = worker.facts,
                      .request = *worker.start,
                      .mark = {.key = worker.key,
                               .steps = recording_.window.steps,
                               .by_stage = options_.profile.IsOn("profile_by_stage"),
                               .instance = {},
                               .command = kByRecord}});
  }
  return starts;
}

std::map<size_t, ControlOutcome> ProfilerSession::SendStarts(std::stop_token stop) {
  const int64_t begin = MonotonicNs();
  bool said = false;
  began_ns_ = std::vector<std::atomic<int64_t>>(recording_.workers.size());
  std::map<size_t, ControlOutcome> outcomes;
  for (const std::vector<size_t>& wave : Waves()) {
    if (wave.empty()) continue;
    const auto ended = [&](const ControlOutcome& outcome) {
      for (size_t i : wave)
        if (outcome.IsGood() && recording_.workers[i].start->url == outcome.url)
          began_ns_[i] = outcome.answered_ns;
    };
    auto answers = std::async(std::launch::async, [&, starts = PlanStarts(wave)] {
      return StartAll(client_, starts, options_.patience, stop, ended);
    });
    while (answers.wait_for(kLookForStarts) != std::future_status::ready) {
      StopOverdue();
      SayWhatIsLate(false);
      SayWhoDoesNotStart(wave, MonotonicNs() - begin, said);
    }
    StartedSessions started = answers.get();
    for (Finding& finding : started.findings) Remark(std::move(finding));
    for (size_t n = 0; n < wave.size(); ++n) outcomes[wave[n]] = std::move(started.outcomes[n]);
  }
  return outcomes;
}

void ProfilerSession::SayWhoDoesNotStart(const std::vector<size_t>& wave, int64_t elapsed_ns,
                                         bool& said) {
  std::vector<std::string> silent;
  for (size_t i : wave)
    if (began_ns_[i] == 0) silent.push_back(recording_.workers[i].worker.url);
  if (silent.empty() || elapsed_ns < kLongSilenceNs) return;
  const std::string text = fmt::format("{}: no answer to the start for {}",
                                       fmt::join(silent, " and "), SecondsText(elapsed_ns));
  observer_.OnProgress("start", text);
  if (!std::exchange(said, true))
    Remark({FindingId::kSlowStart, "",
            fmt::format("{}: an engine's first start may take long. {}; Ctrl-C stops all profilers",
                        text, PatienceText())});
}

bool ProfilerSession::Overdue(size_t worker, int64_t now_ns) const {
  const std::optional<int64_t>& most_ns = recording_.window.most_ns;
  return most_ns && began_ns_[worker] != 0 && now_ns - began_ns_[worker] > *most_ns &&
         !recording_.workers[worker].facts.profiler.reads_body;
}

// Keeps workers whose sessions end by time within their budget, even while others still start.
void ProfilerSession::StopOverdue() {
  for (size_t i : running_)
    if (Overdue(i, MonotonicNs())) AskToStop(i);
}

std::optional<int64_t> ProfilerSession::LatestStopNs() const {
  if (!recording_.window.most_ns) return std::nullopt;
  std::optional<int64_t> latest;
  bool any_runs = false;
  for (size_t i : running_) {
    if (stops_.Asked(i)) continue;
    any_runs = true;
    if (began_ns_[i] != 0 && !recording_.workers[i].facts.profiler.reads_body)
      latest = std::min(latest.value_or(INT64_MAX), began_ns_[i] + *recording_.window.most_ns);
  }
  return any_runs ? latest : 0;
}

std::map<size_t, std::string> ProfilerSession::WhyDeadOf(const std::vector<size_t>& which) const {
  std::vector<Worker> workers;
  std::vector<EngineFacts> facts;
  for (size_t i : which) {
    workers.push_back(recording_.workers[i].worker);
    facts.push_back(recording_.workers[i].facts);
  }
  const std::vector<std::string> dead = WhyDead(client_, workers, facts, kPatienceForLife);
  std::map<size_t, std::string> why;
  for (size_t n = 0; n < which.size(); ++n) why[which[n]] = dead[n];
  return why;
}

std::string ProfilerSession::DyingText(const RecordedWorker& worker) const {
  if (recording_.window.steps && worker.facts.profiler.reads_body)
    return "in its session, or in the flush that ended it, ";
  return DriverWindow::DyingText(worker);
}

std::string ProfilerSession::PatienceText() const {
  const int64_t patience_ns = options_.patience.count() * 1'000'000;
  return patience_ns > 0
             ? fmt::format("It is waited for until --timeout ({})", SecondsText(patience_ns))
             : "It is waited for as long as it takes (--timeout bounds that)";
}

}  // namespace tacho
