// Stops a recording's profilers: sends the stops (StopAll in control/live/start_stop.h), waits for
// the answers and judges them.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "control/version.h"
#include "session/http/profiler_session.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kLookForAnswers{200};
// Added to a forecast flush, because a busy host makes any flush longer.
constexpr int64_t kFlushSlackNs = 2'000'000'000;
constexpr double kLateTimes = 1.25;  // a flush is late after this multiple of its forecast time

}  // namespace

void ProfilerSession::AskToStop(size_t worker) {
  stops_.Ask(worker, {recording_.workers[worker].facts, *recording_.workers[worker].stop});
}

// Sends no stop to an engine that counts its steps and has already ended its session: some engines
// answer such a stop with an error.
std::vector<size_t> ProfilerSession::AskAllToStop() {
  std::vector<size_t> asked;
  for (size_t i : running_) {
    const RecordedWorker& worker = recording_.workers[i];
    if (EngineRule(worker.facts.kind, worker.facts.version, "ends_itself") == "yes" &&
        recording_.window.steps && files_.TracesOf(worker).size() >= files_.Expected(worker)) {
      ended_by_themselves_.insert(i);
      ForgetOpenSession(worker.worker.url);
    } else {
      recording_.workers[i].expectation.wrote_before_stop = files_.WroteAll(worker);
      asked.push_back(i);
      AskToStop(i);
    }
  }
  return asked;
}

void ProfilerSession::Stop(const std::function<void()>& on_the_way, std::stop_token stop,
                           const OnLate& on_late) {
  const std::vector<size_t> asked = AskAllToStop();
  const int64_t begin = MonotonicNs(), begin_unix_ns = ReadClocks().unix_ns;
  // Asks at the same time which engines live: one that is dead by now did not die of the stop.
  auto asked_for_life = std::async(std::launch::async, [&] { return WhyDeadOf(asked); });
  // After a Ctrl-C before the stop, waits for all stops: nothing may be left.
  const bool may_leave = !stop.stop_requested();
  bool left = false;
  size_t shown = 0;
  const std::map<size_t, ControlOutcome> stopped = AwaitStops("stop", on_the_way, [&] {
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
  const std::map<size_t, std::string> dead_then = asked_for_life.get();
  const std::map<size_t, std::string> dead_now = good ? dead_then : WhyDeadOf(asked);
  for (const auto& [i, outcome] : stopped) {
    RecordedWorker& worker = recording_.workers[i];
    if (left && outcome.verdict == ControlVerdict::kNoAnswer) {
      worker.stopped = outcome;
      Fail(worker, TroubleOf(worker, FindingId::kFlushLeft, "its flush was not waited for",
                             "the engine ends it by itself, into " + PlaceOf(worker)));
    } else {
      Settle(worker, outcome, dead_then.at(i), dead_now.at(i));
    }
  }
  const int64_t end_unix_ns = ReadClocks().unix_ns;
  for (size_t i : running_) {
    recording_.workers[i].expectation.stop_asked_unix_ns = begin_unix_ns;
    recording_.workers[i].expectation.stop_unix_ns = end_unix_ns;
  }
  observer_.OnDone("stop", FlushSummary(MonotonicNs() - begin, Flushes()));
  if (good)
    observer_.OnLeftBehind("the profilers were stopped; their traces are\n" + PlacesOfTraces());
}

void ProfilerSession::Settle(RecordedWorker& worker, const ControlOutcome& outcome,
                             const std::string& dead_then, const std::string& dead_now) {
  worker.stopped = outcome;
  worker.expectation.answered_stop = outcome.verdict == ControlVerdict::kDone;
  worker.expectation.nothing_ran = outcome.verdict == ControlVerdict::kWasSo;
  if (!dead_now.empty()) ForgetOpenSession(worker.worker.url);
  if (outcome.IsGood()) return;
  if (!dead_then.empty())
    Fail(worker, TroubleOf(worker, FindingId::kEngineDied,
                           fmt::format("died {}before its stop", DyingText(worker)),
                           WithLog(worker, dead_then)));
  else if (!dead_now.empty())
    Fail(worker, TroubleOf(worker, FindingId::kEngineDied, "died in its flush, while it wrote",
                           WithLog(worker, dead_now)));
  else if (outcome.verdict == ControlVerdict::kNoAnswer)
    Fail(worker, TroubleOf(worker, FindingId::kStopNotAnswered, "did not answer its stop",
                           fmt::format("{}: it still writes, or hangs", outcome.Words())));
  else {
    Finding refused = TroubleOf(
        worker, FindingId::kStopRefused, "refused to stop",
        fmt::format("HTTP {}: {}: its profiler may still run", outcome.status, outcome.said));
    refused.remedy = "tacho engine stop " + worker.worker.url;
    Fail(worker, std::move(refused));
  }
}

std::map<size_t, ControlOutcome> ProfilerSession::AwaitStops(
    std::string_view phase, const std::function<void()>& on_the_way,
    const std::function<void()>& look) {
  const int64_t begin = MonotonicNs();
  // Requests that would only queue up during a flush are of no use.
  const bool quick = stops_.AllAnswered(kLookForAnswers);
  on_the_way();
  while (!quick && !stops_.AllAnswered(kLookForAnswers)) {
    observer_.OnProgress(phase, FlushText(MonotonicNs() - begin, Flushes()));
    look();
  }
  return stops_.Take();
}

bool ProfilerSession::IsLate(size_t worker, double times) const {
  const std::optional<Forecast>& forecast = recording_.workers[worker].forecast;
  const double expected_ns =
      forecast ? forecast->flush_ns : static_cast<double>(options_.budget.flush_ns);
  return static_cast<double>(stops_.ElapsedNs(worker)) >
         times * expected_ns + static_cast<double>(kFlushSlackNs);
}

void ProfilerSession::SayWhatIsLate(bool may_leave) {
  if (std::ranges::none_of(running_, [&](size_t i) {
        return stops_.Asked(i) && !stops_.TookNs(i) && IsLate(i, kLateTimes);
      }))
    return;
  const std::vector<FlushState> flushes = Flushes();
  for (size_t n = 0; n < flushes.size(); ++n) {
    const size_t i = running_[n];
    if (flushes[n].took_ns || !stops_.Asked(i)) continue;
    const std::string late = LateText(stops_.ElapsedNs(i), flushes[n]);
    if (IsLate(i, 2) && said_choice_.insert(i).second) {
      said_late_.insert(i);
      observer_.OnRemark(fmt::format(
          "{}; until then the engine serves no request. {}; {}", late, PatienceText(),
          may_leave ? fmt::format("Ctrl-C goes on without it: the engine ends its flush by itself, "
                                  "into {}",
                                  PlaceOf(recording_.workers[i]))
                    : "Ctrl-C again ends tacho at once"));
    } else if (IsLate(i, kLateTimes) && said_late_.insert(i).second) {
      observer_.OnRemark(late);
    }
  }
}

std::vector<size_t> ProfilerSession::Done() const {
  std::vector<size_t> done;
  for (size_t i : running_)
    if (ended_by_themselves_.contains(i) ? files_.WroteAll(recording_.workers[i])
                                         : stops_.TookNs(i).has_value())
      done.push_back(i);
  return done;
}

}  // namespace tacho
