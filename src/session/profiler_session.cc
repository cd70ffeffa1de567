#include "session/profiler_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <numeric>
#include <set>
#include <utility>

#include "control/liveness.h"
#include "net/clock.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kLookForAnswers{200};
constexpr std::chrono::milliseconds kLookForStarts{20};
constexpr int64_t kSlowStartNs = 250'000'000;
// A wait of which nothing is said for so long looks hung.
constexpr int64_t kAnswerToTellNs = 5'000'000'000;
// A busy host adds to any flush.
constexpr int64_t kFlushSlackNs = 2'000'000'000;
constexpr double kLateTimes = 1.25;  // of what was expected
// A stop where nothing runs takes milliseconds, or as long as the step under way.
constexpr int64_t kIdleStopNs = 2'000'000'000;

std::string WithLog(RecordedWorker& worker, std::string text) {
  if (const std::string& said = worker.log.Death(); !said.empty())
    text += "; its log says: " + said;
  return text;
}

// The engine's words, or ours without the URL before them, which is named already.
std::string Said(const ControlOutcome& outcome) {
  const size_t words =
      outcome.said.starts_with(outcome.url) ? outcome.said.find(": ") : std::string::npos;
  return words == std::string::npos ? outcome.said : outcome.said.substr(words + 2);
}

// "did not start" of "did not start: no answer within 20 s", to follow the worker's name.
std::string Brief(std::string_view trouble) {
  if (trouble.starts_with("it ")) trouble.remove_prefix(3);
  return std::string(trouble.substr(0, trouble.find(": ")));
}

}  // namespace

ProfilerSession::ProfilerSession(HttpClient& client, const RecordOptions& options,
                                 RecordObserver& observer, Recording& recording)
    : client_(client),
      options_(options),
      observer_(observer),
      recording_(recording),
      stops_(client, recording.workers, options.patience) {
  running_.resize(recording_.workers.size());
  std::iota(running_.begin(), running_.end(), size_t{0});
}

bool ProfilerSession::EndOldSessions(std::stop_token stop) {
  LookIntoFolders();
  std::vector<size_t> which;
  std::vector<ControlOutcome> ended;
  for (size_t i : running_)
    if (recording_.workers[i].facts.kind == EngineKind::kVllm) stops_.Ask(i);
  const int64_t begin = MonotonicNs();
  std::set<size_t> silent;
  for (auto& [i, outcome] : AwaitStops(
           "ending old sessions", [] {},
           [&] {
             if (stop.stop_requested()) stops_.GiveUp();
             SayWhoIsSilent(MonotonicNs() - begin, silent);
           })) {
    which.push_back(i);
    ended.push_back(std::move(outcome));
  }
  if (stop.stop_requested()) {
    for (size_t n = 0; n < which.size(); ++n)
      if (silent.contains(which[n]) && ended[n].verdict == ControlVerdict::kNoAnswer)
        Fail(recording_.workers[which[n]],
             "did not answer the stop before its start, until Ctrl-C: an earlier session is still "
             "being written, or it hangs");
    return false;
  }
  std::vector<size_t> failed;
  for (size_t i = 0; i < which.size(); ++i)
    if (!ended[i].IsGood()) failed.push_back(which[i]);
  const std::vector<std::string> dead = WhyDeadOf(failed);
  for (size_t i = 0; i < which.size(); ++i) {
    const auto at = std::find(failed.begin(), failed.end(), which[i]);
    if (at == failed.end()) continue;
    RecordedWorker& worker = recording_.workers[which[i]];
    const std::string& why = dead[static_cast<size_t>(at - failed.begin())];
    if (!why.empty())
      Fail(worker, WithLog(worker, fmt::format("it died before its start{}: {}",
                                               options_.load ? ", under the load" : "", why)));
    else if (ended[i].verdict == ControlVerdict::kNoAnswer)
      Fail(worker, fmt::format("did not answer the stop before its start: {}: an earlier session "
                               "is still being written, or it hangs",
                               Said(ended[i])));
  }
  NameEndedSessions(which, ended);
  std::erase_if(running_,
                [&](size_t i) { return !recording_.workers[i].expectation.trouble.empty(); });
  // What an earlier session wrote is none of ours.
  LookIntoFolders();
  return running_.size() == recording_.workers.size() || (options_.keep_going && !running_.empty());
}

bool ProfilerSession::LeaveOutTaken(std::stop_token stop) {
  std::vector<ControlRequest> starts;
  std::vector<EngineFacts> facts;
  for (size_t i : running_) {
    starts.push_back(*recording_.workers[i].start);
    facts.push_back(recording_.workers[i].facts);
  }
  const std::vector<ControlOutcome> asked =
      AskWhetherTaken(client_, starts, facts, options_.patience, stop);
  const std::vector<size_t> which = running_;
  for (size_t n = 0; n < which.size(); ++n)
    if (asked[n].taken) LeaveOut(which[n], "did not start: " + asked[n].said);
  return running_.size() == recording_.workers.size() || (options_.keep_going && !running_.empty());
}

// vLLM answers 200 whether a session ran or not: what ran leaves files, or takes its time.
void ProfilerSession::NameEndedSessions(const std::vector<size_t>& which,
                                        const std::vector<ControlOutcome>& ended) {
  std::map<std::string, std::vector<std::string>> urls;  // by folder
  for (size_t i = 0; i < which.size(); ++i) {
    const RecordedWorker& worker = recording_.workers[which[i]];
    const int64_t took_ns = ended[i].answered_ns - ended[i].sent_ns;
    if (!worker.folder.empty())
      urls[worker.folder].push_back(worker.worker.url);
    else if (ended[i].IsGood() && took_ns > kIdleStopNs)
      Remark(
          fmt::format("{}: the stop before the start took {}: a session that was running there "
                      "was probably ended",
                      worker.worker.url, SecondsText(took_ns)));
  }
  for (const auto& [folder, workers] : urls) {
    std::vector<std::string> files = NewFiles(before_[folder], ReadFolder(folder));
    std::erase_if(files, [](const std::string& file) { return !IsTraceName(file); });
    if (!files.empty())
      Remark(fmt::format("a session that was running at {} was ended: it left {}{}",
                         fmt::join(workers, " or "), files.front(),
                         files.size() == 1 ? "" : fmt::format(" and {} more", files.size() - 1)));
  }
}

bool ProfilerSession::Start(std::stop_token stop) {
  SayWhatIsLeft();
  const int64_t begin = ReadClocks().unix_ns;
  const std::vector<std::optional<OpenSession>> earlier = MarkAsOpen(begin / 1'000'000'000);
  const std::vector<ControlOutcome> started = SendStarts(std::move(stop));
  recording_.starts = SpreadOf(started);
  std::vector<size_t> failed;
  std::set<size_t> others;
  for (size_t i = 0; i < started.size(); ++i) {
    RecordedWorker& worker = recording_.workers[running_[i]];
    worker.started = started[i];
    worker.expectation.start_unix_ns = begin;
    worker.expectation.key = KeyOf(worker);
    if (started[i].verdict != ControlVerdict::kDone) failed.push_back(i);
    if (started[i].verdict != ControlVerdict::kRefused) continue;
    ForgetOpenSession(worker.worker.url);
    if (earlier[i]) Keep(worker, *earlier[i]);
    if (earlier[i] || started[i].taken) others.insert(running_[i]);
  }
  std::vector<size_t> of_failed;
  for (size_t i : failed) of_failed.push_back(running_[i]);
  const std::vector<std::string> dead = WhyDeadOf(of_failed);
  for (size_t i = 0; i < failed.size(); ++i) {
    RecordedWorker& worker = recording_.workers[of_failed[i]];
    const ControlOutcome& start = started[failed[i]];
    std::string trouble = "did not start: " + Said(start);
    if (start.verdict == ControlVerdict::kNoAnswer && options_.patience.count() > 0)
      trouble += ": it hangs, or its profiler takes longer (--timeout)";
    Fail(worker,
         dead[i].empty() ? trouble : WithLog(worker, "it was dead at its start: " + dead[i]));
  }
  // What runs there is not ours to stop.
  std::erase_if(running_, [&](size_t i) { return others.contains(i); });
  SayWhatIsLeft();
  observer_.OnDone("start", recording_.starts.Text("profiler"));
  return failed.empty() || (options_.keep_going && failed.size() < started.size());
}

// Where a profiler's first start took seconds in a trial, those that were quick would record all
// the while.
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

std::vector<ControlOutcome> ProfilerSession::SendStarts(std::stop_token stop) {
  const int64_t begin = MonotonicNs();
  bool said = false;
  began_ns_ = std::vector<std::atomic<int64_t>>(recording_.workers.size());
  std::map<size_t, ControlOutcome> outcomes;
  for (const std::vector<size_t>& wave : Waves()) {
    if (wave.empty()) continue;
    std::vector<ControlRequest> starts;
    std::vector<EngineFacts> facts;
    for (size_t i : wave) {
      starts.push_back(*recording_.workers[i].start);
      facts.push_back(recording_.workers[i].facts);
    }
    const auto ended = [&](const ControlOutcome& outcome) {
      for (size_t i : wave)
        if (outcome.IsGood() && recording_.workers[i].start->url == outcome.url)
          began_ns_[i] = outcome.answered_ns;
    };
    auto answers = std::async(std::launch::async, [&] {
      return SendAll(client_, starts, facts, options_.patience, stop, ended);
    });
    while (answers.wait_for(kLookForStarts) != std::future_status::ready) {
      StopOverdue();
      SayWhatIsLate(false);
      std::vector<std::string> silent;
      for (size_t i : wave)
        if (began_ns_[i] == 0) silent.push_back(recording_.workers[i].worker.url);
      const int64_t elapsed_ns = MonotonicNs() - begin;
      if (silent.empty() || elapsed_ns < kAnswerToTellNs) continue;
      const std::string text = fmt::format("{}: no answer to the start for {}",
                                           fmt::join(silent, " and "), SecondsText(elapsed_ns));
      observer_.OnProgress("start", text);
      if (!std::exchange(said, true))
        Remark(
            fmt::format("{}: an engine's first start may take long. {}; Ctrl-C stops all "
                        "profilers",
                        text, PatienceText()));
    }
    std::vector<ControlOutcome> of_wave = answers.get();
    for (size_t n = 0; n < wave.size(); ++n) outcomes[wave[n]] = std::move(of_wave[n]);
  }
  std::vector<ControlOutcome> in_order;
  for (size_t i : running_) in_order.push_back(std::move(outcomes[i]));
  return in_order;
}

bool ProfilerSession::Overdue(size_t worker, int64_t now_ns) const {
  const std::optional<int64_t>& most_ns = recording_.window.most_ns;
  return most_ns && began_ns_[worker] != 0 && now_ns - began_ns_[worker] > *most_ns &&
         !recording_.workers[worker].facts.profiler.reads_body;
}

// The budget of those that count by time holds while others still start.
void ProfilerSession::StopOverdue() {
  for (size_t i : running_)
    if (Overdue(i, MonotonicNs())) stops_.Ask(i);
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

void ProfilerSession::SayWhatIsLate(bool may_leave) {
  const auto over = [&](size_t i, double times) {
    const std::optional<Forecast>& forecast = recording_.workers[i].forecast;
    const double expected_ns =
        forecast ? forecast->flush_ns : static_cast<double>(options_.budget.flush_ns);
    return static_cast<double>(stops_.ElapsedNs(i)) >
           times * expected_ns + static_cast<double>(kFlushSlackNs);
  };
  if (std::ranges::none_of(running_, [&](size_t i) {
        return stops_.Asked(i) && !stops_.TookNs(i) && over(i, kLateTimes);
      }))
    return;
  const std::vector<FlushState> flushes = Flushes();
  for (size_t n = 0; n < flushes.size(); ++n) {
    const size_t i = running_[n];
    if (flushes[n].took_ns || !stops_.Asked(i)) continue;
    const std::string late = LateText(stops_.ElapsedNs(i), flushes[n]);
    if (over(i, 2) && said_choice_.insert(i).second) {
      said_late_.insert(i);
      observer_.OnRemark(fmt::format(
          "{}; until it ends the engine serves nobody. {}; {}", late, PatienceText(),
          may_leave ? fmt::format("Ctrl-C goes on without it: the engine ends its flush by itself, "
                                  "into {}",
                                  PlaceOf(recording_.workers[i]))
                    : "Ctrl-C again ends tacho at once"));
    } else if (over(i, kLateTimes) && said_late_.insert(i).second) {
      observer_.OnRemark(late);
    }
  }
}

std::vector<size_t> ProfilerSession::Done() const {
  std::vector<size_t> done;
  for (size_t i : running_)
    if (ended_by_themselves_.contains(i) ? WroteAll(recording_.workers[i])
                                         : stops_.TookNs(i).has_value())
      done.push_back(i);
  return done;
}

void ProfilerSession::SayWhoIsSilent(int64_t elapsed_ns, std::set<size_t>& said) {
  if (elapsed_ns < kAnswerToTellNs) return;
  for (size_t i : running_)
    if (stops_.Asked(i) && !stops_.TookNs(i) && said.insert(i).second)
      observer_.OnRemark(fmt::format(
          "{}: no answer to the stop before its start (POST /stop_profile) for {}: an earlier "
          "session is still being written there, or the engine hangs. {}; Ctrl-C ends tacho, which "
          "has started nothing",
          recording_.workers[i].worker.url, SecondsText(elapsed_ns), PatienceText()));
}

std::string ProfilerSession::PatienceText() const {
  const int64_t patience_ns = options_.patience.count() * 1'000'000;
  return patience_ns > 0
             ? fmt::format("It is waited for until --timeout ({})", SecondsText(patience_ns))
             : "It is waited for as long as it takes (--timeout bounds that)";
}

// If this process is killed from now on, the next one finds the marks. Gives those that were there:
// of engines that guard themselves.
std::vector<std::optional<OpenSession>> ProfilerSession::MarkAsOpen(int64_t unix_s) {
  std::vector<std::optional<OpenSession>> earlier;
  for (size_t i : running_) {
    const RecordedWorker& worker = recording_.workers[i];
    earlier.push_back(FindOpenSession(worker.worker, worker.facts));
    Keep(worker, {.key = worker.key,
                  .since_unix_s = unix_s,
                  .steps = recording_.window.steps,
                  .by_stage = options_.profile.IsOn("profile_by_stage"),
                  .instance = worker.facts.instance,
                  .command = kByRecord});
  }
  return earlier;
}

void ProfilerSession::Keep(const RecordedWorker& worker, const OpenSession& session) {
  const auto kept = KeepOpenSession(worker.worker.url, session);
  if (!kept) Remark(kept.error().message);
}

void ProfilerSession::Stop(const std::function<void()>& on_the_way, std::stop_token stop,
                           const std::function<void(const std::vector<size_t>&)>& on_late) {
  // An SGLang that counted its steps has stopped itself; to stop it again is an error there.
  std::vector<size_t> which;
  for (size_t i : running_) {
    const RecordedWorker& worker = recording_.workers[i];
    if (worker.facts.kind == EngineKind::kSglang && recording_.window.steps &&
        FilesOf(worker).size() >= ExpectedFiles(worker)) {
      ended_by_themselves_.insert(i);
      ForgetOpenSession(worker.worker.url);
    } else {
      which.push_back(i);
      stops_.Ask(i);
    }
  }
  const int64_t begin = MonotonicNs(), begin_unix_ns = ReadClocks().unix_ns;
  // Asked at the same time: who is dead by now did not die of the stop.
  auto asked = std::async(std::launch::async, [&] { return WhyDeadOf(which); });
  // Ctrl-C came before: what is under way is waited for.
  const bool may_leave = !stop.stop_requested();
  bool left = false;
  size_t shown = 0;
  std::map<size_t, ControlOutcome> stopped = AwaitStops("stop", on_the_way, [&] {
    SayWhatIsLate(may_leave);
    if (said_choice_.empty()) return;
    if (const std::vector<size_t> done = Done(); on_late && done.size() > shown) {
      shown = done.size();
      on_late(done);
    }
    if (!may_leave || !stop.stop_requested()) return;
    stops_.GiveUp();
    left = true;
  });
  const bool good =
      std::ranges::all_of(stopped, [](const auto& outcome) { return outcome.second.IsGood(); });
  const std::vector<std::string> dead_then = asked.get();
  const std::vector<std::string> dead_now = good ? dead_then : WhyDeadOf(which);
  for (size_t i = 0; i < which.size(); ++i) {
    RecordedWorker& worker = recording_.workers[which[i]];
    const ControlOutcome& outcome = stopped.at(which[i]);
    if (left && outcome.verdict == ControlVerdict::kNoAnswer) {
      worker.stopped = outcome;
      Fail(worker,
           fmt::format("its flush was not waited for: the engine ends it by itself, into {}",
                       PlaceOf(worker)));
    } else {
      Settle(worker, outcome, dead_then[i], dead_now[i]);
    }
  }
  const int64_t end_unix_ns = ReadClocks().unix_ns;
  for (size_t i : running_) {
    recording_.workers[i].expectation.stop_asked_unix_ns = begin_unix_ns;
    recording_.workers[i].expectation.stop_unix_ns = end_unix_ns;
  }
  observer_.OnDone("stop", FlushSummary(MonotonicNs() - begin, Flushes()));
  if (good) observer_.OnLeftBehind("the profilers were stopped; their traces are\n" + Traces());
}

void ProfilerSession::Settle(RecordedWorker& worker, const ControlOutcome& outcome,
                             const std::string& dead_then, const std::string& dead_now) {
  worker.stopped = outcome;
  worker.expectation.answered_stop = outcome.verdict == ControlVerdict::kDone;
  worker.expectation.nothing_ran = outcome.verdict == ControlVerdict::kWasSo;
  if (outcome.TellsThatNothingRuns() || !dead_now.empty()) ForgetOpenSession(worker.worker.url);
  if (outcome.IsGood()) return;
  if (!dead_then.empty())
    Fail(worker,
         WithLog(worker, fmt::format("it died {}before its stop: {}",
                                     recording_.window.steps && worker.facts.profiler.reads_body
                                         ? "in its session, or in the flush that ended it, "
                                     : options_.load ? "under the load, "
                                                     : "",
                                     dead_then)));
  else if (!dead_now.empty())
    Fail(worker, WithLog(worker, "it died in its flush, while it wrote: " + dead_now));
  else if (outcome.verdict == ControlVerdict::kNoAnswer)
    Fail(worker,
         fmt::format("did not answer its stop: {}: it still writes, or hangs", Said(outcome)));
  else
    Fail(worker, fmt::format("refused to stop: HTTP {}: {}: its profiler may still run (tacho "
                             "engine stop {})",
                             outcome.status, outcome.said, worker.worker.url));
}

std::map<size_t, ControlOutcome> ProfilerSession::AwaitStops(
    std::string_view phase, const std::function<void()>& on_the_way,
    const std::function<void()>& look) {
  const int64_t begin = MonotonicNs();
  // Requests that pile up behind a flush are of no use to anybody.
  const bool quick = stops_.AllAnswered(kLookForAnswers);
  on_the_way();
  while (!quick && !stops_.AllAnswered(kLookForAnswers)) {
    observer_.OnProgress(phase, FlushText(MonotonicNs() - begin, Flushes()));
    look();
  }
  return stops_.Take();
}

std::vector<std::string> ProfilerSession::WhyDeadOf(const std::vector<size_t>& which) const {
  std::vector<Worker> workers;
  std::vector<EngineFacts> facts;
  for (size_t i : which) {
    workers.push_back(recording_.workers[i].worker);
    facts.push_back(recording_.workers[i].facts);
  }
  return WhyDead(client_, workers, facts, kPatienceForLife);
}

void ProfilerSession::LeaveOut(size_t worker, const std::string& trouble) {
  Fail(recording_.workers[worker], trouble);
  std::erase(running_, worker);
}

void ProfilerSession::GiveUpTheOthers() {
  const RecordedWorker* first = nullptr;
  size_t failed = 0;
  for (const RecordedWorker& worker : recording_.workers) {
    if (worker.expectation.trouble.empty()) continue;
    if (failed++ == 0) first = &worker;
  }
  if (first == nullptr) return;
  for (RecordedWorker& worker : recording_.workers)
    if (worker.expectation.trouble.empty())
      worker.expectation.given_up =
          fmt::format("{}, because {} ({}) {}{}; --keep-going records the others",
                      worker.started && worker.started->IsGood() ? "ended at once" : "not started",
                      first->expectation.name, first->worker.url, Brief(first->expectation.trouble),
                      failed > 1 ? fmt::format(", and {} more failed", failed - 1) : "");
}

void ProfilerSession::Fail(RecordedWorker& worker, std::string trouble) {
  // What follows from the first one is no news.
  if (!worker.expectation.trouble.empty()) return;
  recording_.troubles.push_back(worker.worker.url + ": " + trouble);
  worker.expectation.trouble = std::move(trouble);
}

void ProfilerSession::Remark(const std::string& text) {
  recording_.remarks.push_back(text);
  observer_.OnRemark(text);
}

}  // namespace tacho
