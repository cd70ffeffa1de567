#include "session/plan/empty_window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "session/http/flush_progress.h"
#include "session/plan/record_outlook.h"

namespace tacho {

namespace {

// The workers in `silent` that recorded no step.
std::vector<size_t> WithoutStep(DriverWindow& window, const Recording& recording,
                                const std::vector<size_t>& silent, const std::stop_token& stop) {
  std::vector<size_t> without;
  for (size_t i : silent) {
    const WorkerExpectation& expectation = recording.workers[i].expectation;
    if (!expectation.trouble && expectation.steps_named && window.HoldsNoStep(i, stop))
      without.push_back(i);
  }
  return without;
}

void RenewSessions(Recording& recording) {
  for (RecordedWorker& worker : recording.workers) {
    if (worker.expectation.trouble) continue;
    worker.profile.key += "-again";
    worker.key = worker.profile.key;
    worker.started.reset();
    worker.stopped.reset();
    worker.expectation.answered_stop = worker.expectation.nothing_ran = false;
    worker.expectation.ended_by_time_ns = 0;
    worker.expectation.ended_by_death = false;
    worker.expectation.silent_under_load = false;
    PlanStartOf(worker, recording.window);
  }
  recording.profiled = {};
}

}  // namespace

std::vector<size_t> SilentInWindow(const Recording& recording, const std::vector<size_t>& running,
                                   const RecordLoad& load) {
  std::vector<size_t> silent;
  if (!load.Runs() || load.HasEnded() || recording.profiled.begin_ns == 0) return silent;
  for (size_t i : running) {
    const RecordLoad::Answers answers = load.AnswersOf(recording.workers[i].worker.url);
    if (!answers.nothing_due && answers.last_token_ns < recording.profiled.begin_ns)
      silent.push_back(i);
  }
  return silent;
}

bool ClearIfWithoutStep(DriverWindow& window, RecordObserver& observer,
                        const std::vector<size_t>& silent, const std::stop_token& stop,
                        Recording& recording) {
  const std::vector<size_t> without = WithoutStep(window, recording, silent, stop);
  if (without.empty()) return false;
  const int64_t took_ns = recording.profiled.end_ns - recording.profiled.begin_ns;
  ReportFinding(recording, observer,
                {FindingId::kWindowTakenAgain, "",
                 fmt::format("{}: no token came in the window of {}, and its trace holds no step: "
                             "the window is taken again",
                             recording.workers[without.front()].worker.url, SecondsText(took_ns))});
  const std::vector<std::string> left = window.RemoveFiles();
  if (!left.empty())
    ReportFinding(
        recording, observer,
        {FindingId::kTrialFiles, "",
         fmt::format("files of the window without a step stay: {}", fmt::join(left, ", "))});
  RenewSessions(recording);
  return true;
}

}  // namespace tacho
