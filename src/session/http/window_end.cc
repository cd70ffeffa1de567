#include "session/http/window_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"

namespace tacho {
namespace {

// Extra time for a window whose steps are slow.
constexpr int64_t kLongerForStepsNs = 60'000'000'000;

}  // namespace

std::vector<Worker> WorkersOf(const Recording& recording) {
  std::vector<Worker> workers;
  for (const RecordedWorker& worker : recording.workers) workers.push_back(worker.worker);
  return workers;
}

WindowEnd::WindowEnd(HttpClient& client, const RecordOptions& options, Recording& recording,
                     DriverWindow& window, RecordLoad& load, std::chrono::milliseconds patience,
                     const std::stop_token& stop)
    : options_(options), recording_(recording), window_(window), load_(load), life_(client) {
  const WindowPlan& plan = recording_.window;
  if (const auto needed = plan.by_budget ? plan.steps : StepsToFlush(options_.profile))
    steps_.emplace(client, WorkersOf(recording_), patience, plan.by_budget ? *needed - 1 : *needed,
                   stop);
}

void WindowEnd::Begin() {
  recording_.profiled.begin_ns = MonotonicNs();
  for (RecordedWorker& worker : recording_.workers)
    worker.expectation.all_running_unix_ns = ReadClocks().unix_ns;
  ended_before_ = load_.RequestsEnded();
}

bool WindowEnd::IsOver() {
  const std::optional<uint64_t> wanted = options_.window_requests;
  return (wanted && RequestsEnded() >= *wanted) || window_.FilesThere() || StepsTaken() ||
         load_.GaveUp() || EndedByDeath() || (TimeIsUp() && !MayGoOn());
}

void WindowEnd::End(RecordObserver& observer) {
  recording_.profiled.end_ns = MonotonicNs();
  const int64_t took_ns = recording_.profiled.end_ns - recording_.profiled.begin_ns;
  if (took_ns < recording_.window.window_ns) return;
  if (options_.profile.steps)
    for (RecordedWorker& worker : recording_.workers) {
      worker.expectation.ended_by_time_ns = took_ns;
      worker.expectation.time_asked = options_.window_asked;
    }
  const std::optional<uint64_t> wanted = options_.window_requests;
  if (const uint64_t ended = RequestsEnded(); wanted && ended < *wanted)
    ReportFinding(recording_, observer,
                  {FindingId::kTooFewRequests, "",
                   fmt::format("{} of {} requests ended in the window", ended, *wanted),
                   "it needs a longer --duration"});
}

// The time counts from Begin, when the last profiler ran. The other workers began to record
// earlier, so the limits of their own sessions (LatestStopNs) may end the window earlier.
int64_t WindowEnd::MostNs() const {
  // With a given load and a number of steps, the steps may come late in the load, so nothing bounds
  // the time.
  if (options_.given_load && !recording_.window.by_budget) return INT64_MAX;
  const std::optional<int64_t> latest_ns = window_.LatestStopNs();
  const int64_t window_ns = recording_.window.window_ns;
  if (latest_ns) return std::min(window_ns, *latest_ns - recording_.profiled.begin_ns);
  return HoldsLeast() ? window_ns + kLongerForStepsNs : window_ns;
}

bool WindowEnd::HoldsLeast() const {
  return recording_.window.by_budget && !options_.budget.asked && steps_.has_value();
}

bool WindowEnd::TimeIsUp() const {
  return MonotonicNs() - recording_.profiled.begin_ns >=
         std::min(options_.window_ns, recording_.window.window_ns);
}

// Whether the window may exceed its time because it has too few steps so far: a window of one or
// two steps shows nothing. That happens if steps take much longer than in the baseline.
bool WindowEnd::MayGoOn() const {
  const int64_t least = std::min(kLeastSteps, recording_.window.steps.value_or(INT64_MAX));
  return HoldsLeast() && steps_->Fewest().value_or(INT64_MAX) < least;
}

std::optional<int64_t> WindowEnd::PlannedNs() const {
  return steps_ && !recording_.window.most_ns ? recording_.window.planned_ns : std::nullopt;
}

// If the budget bounds the window, the other workers get as much time again as the first worker
// needed for its steps. The window does not wait longer for a worker with fewer requests.
bool WindowEnd::StepsTaken() {
  if (!steps_) return false;
  if (steps_->Taken()) return true;
  if (!recording_.window.by_budget || !steps_->AnyTaken()) return false;
  const int64_t now_ns = MonotonicNs();
  if (first_taken_ns_ == 0) first_taken_ns_ = now_ns;
  return now_ns - first_taken_ns_ >= first_taken_ns_ - recording_.profiled.begin_ns;
}

// Without --keep-going the first death ends the window: either all workers are recorded or none.
bool WindowEnd::EndedByDeath() {
  const std::vector<size_t>& running = window_.running();
  std::vector<std::pair<size_t, std::string>> deaths;
  for (const auto& [worker, why] : life_.Dead(running, recording_.workers))
    if (dead_.insert(worker).second) deaths.emplace_back(worker, why);
  const bool over = !dead_.empty() && (dead_.size() == running.size() || !options_.keep_going);
  for (const auto& [worker, why] : deaths) {
    window_.ReportDeath(worker, why, MonotonicNs() - recording_.profiled.begin_ns, over);
    if (steps_) steps_->LeaveOut(worker);
  }
  if (over)
    for (RecordedWorker& worker : recording_.workers) worker.expectation.ended_by_death = true;
  return over;
}

}  // namespace tacho
