#include "session/plan/worker_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "session/files/trace_count.h"
#include "session/http/profiler_trial.h"
#include "session/proof/proof_causes.h"
#include "session/run_folder/kept_figures.h"

namespace tacho {
namespace {

constexpr double kDearTrialNs = 500'000'000;

std::string KeyOf(const Recording& recording, const RecordedWorker& worker) {
  return FiguresKey(worker.facts, worker.profile, NameOf(recording.via));
}

// Gives all engines of one kind the largest fixed part and the largest cost of a step that were
// measured on any of them, because such engines differ only by chance.
void TakeTheSlowest(Recording& recording) {
  struct Slowest {
    double fixed_ns = 0, step_ns = 0;
  };
  std::map<std::string, Slowest> slowest;  // by kind
  const auto step_ns = [](const ProfileFigures& figures) {
    return (figures.flush_ns - figures.fixed_ns) / figures.steps;
  };
  for (const RecordedWorker& worker : recording.workers)
    if (worker.figures && worker.figures->steps > 0) {
      Slowest& most = slowest[KeyOf(recording, worker)];
      most.fixed_ns = std::max(most.fixed_ns, worker.figures->fixed_ns);
      most.step_ns = std::max(most.step_ns, step_ns(*worker.figures));
    }
  for (RecordedWorker& worker : recording.workers)
    if (worker.figures && worker.figures->steps > 0) {
      const Slowest& most = slowest[KeyOf(recording, worker)];
      worker.figures->fixed_ns = most.fixed_ns;
      worker.figures->flush_ns = most.fixed_ns + worker.figures->steps * most.step_ns;
    }
}

// Corrects the figures of an engine's first trial with those of its second. If the two trials do
// not show a part of the flush that is the same for any number of steps (fixed_ns), takes the mean
// of both.
void Join(ProfileFigures& figures, const ProfileFigures& second) {
  if ((figures.LearnFixed(second) && figures.fixed_ns > 0) || second.events <= 0) return;
  const double times = figures.events / second.events;
  figures.flush_ns = (figures.flush_ns + second.flush_ns * times) / 2;
  figures.table_ns = (figures.table_ns + second.table_ns * times) / 2;
}

// Gives each worker the figures that earlier recordings kept for it. Returns the workers that still
// need a trial.
std::vector<size_t> FindKept(const RecordOptions& options, Recording& recording,
                             const std::vector<size_t>& running) {
  std::vector<size_t> to_try;
  for (size_t i = 0; i < recording.workers.size(); ++i) {
    RecordedWorker& worker = recording.workers[i];
    const std::optional<KeptFigures> kept = FindFigures(KeyOf(recording, worker));
    if (kept) worker.figures = kept->figures;
    if (kept) worker.figures_unix_s = kept->unix_s.value_or(0);
    if ((!kept || !kept->Knows(worker.facts.instance.Text())) && worker.start &&
        MayTry(worker, options) && std::find(running.begin(), running.end(), i) != running.end())
      to_try.push_back(i);
  }
  return to_try;
}

// Runs a trial of each worker in `to_try`, and a second, smaller one if a first flush took long.
std::vector<TrialOutcome> RunTrials(HttpClient& client, const RecordOptions& options,
                                    RecordObserver& observer, const Recording& recording,
                                    TokenFlow& flow, const std::vector<size_t>& to_try,
                                    const std::stop_token& stop) {
  const auto run = [&](const std::vector<size_t>& which, TrialSize size) {
    return RunTrial(client, options, observer, recording, flow, which, size, stop);
  };
  std::vector<TrialOutcome> outcomes = run(to_try, TrialSize::kWhole);
  // Repeats, once, a trial that saw no step.
  std::vector<size_t> places, to_try_again;
  for (size_t n = 0; n < outcomes.size() && options.load && !stop.stop_requested(); ++n)
    if (outcomes[n].saw_no_step && !outcomes[n].failed) {
      places.push_back(n);
      to_try_again.push_back(to_try[n]);
    }
  if (!places.empty()) {
    observer.OnRemark("trial: no step was seen: it is taken again");
    std::vector<TrialOutcome> again = run(to_try_again, TrialSize::kWhole);
    std::vector<std::string> left = std::move(outcomes.front().left_files);
    std::ranges::move(again.front().left_files, std::back_inserter(left));
    for (size_t m = 0; m < places.size(); ++m) outcomes[places[m]] = std::move(again[m]);
    outcomes.front().left_files = std::move(left);
  }
  // If a flush was expensive, a second, smaller trial shows how much of its cost comes from the
  // steps. The first flush also includes work that an engine does only once. That work counts as a
  // cost of the steps, so tacho records too few steps rather than too many.
  const bool dear = std::any_of(outcomes.begin(), outcomes.end(), [](const TrialOutcome& one) {
    return one.figures && one.figures->flush_ns > kDearTrialNs;
  });
  const bool well = std::none_of(outcomes.begin(), outcomes.end(),
                                 [](const TrialOutcome& one) { return one.failed.has_value(); });
  if (dear && well && !stop.stop_requested()) {
    const std::vector<TrialOutcome> again = run(to_try, TrialSize::kQuarter);
    std::vector<std::string>& left = outcomes.front().left_files;
    left.insert(left.end(), again.front().left_files.begin(), again.front().left_files.end());
    for (size_t n = 0; n < to_try.size(); ++n) {
      if (again[n].figures && outcomes[n].figures) Join(*outcomes[n].figures, *again[n].figures);
      outcomes[n].failed = again[n].failed;
    }
  }
  return outcomes;
}

}  // namespace

bool FindFiguresOf(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                   Recording& recording, DriverWindow& window, TokenFlow& flow,
                   std::stop_token stop) {
  const std::vector<size_t> to_try = FindKept(options, recording, window.running());
  if (options.given_load || to_try.empty()) return true;
  std::vector<TrialOutcome> outcomes =
      RunTrials(client, options, observer, recording, flow, to_try, stop);
  const std::vector<std::string>& left = outcomes.front().left_files;
  if (!left.empty())
    ReportFinding(
        recording, observer,
        {FindingId::kTrialFiles, "",
         fmt::format("files of the trial stay in the engine's folder: {}; tacho analyze of that "
                     "folder reads them as well, until you remove them",
                     fmt::join(left, ", "))});
  size_t told = 0;
  ProfileFigures most;
  std::string met;  // what went wrong with the first failed trial
  for (size_t n = 0; n < to_try.size(); ++n) {
    RecordedWorker& worker = recording.workers[to_try[n]];
    if (outcomes[n].figures) {
      worker.figures = outcomes[n].figures;
      worker.figures_unix_s.reset();
      ++told;
    }
    worker.trial_start_ns = outcomes[n].start_ns;
    const std::optional<Finding>& failed = outcomes[n].failed;
    const std::string wrong = failed ? failed->Words() : outcomes[n].met;
    if (!wrong.empty() && met.empty()) met = worker.worker.url + ": " + wrong;
    if (failed) window.LeaveOut(to_try[n], *failed);
  }
  TakeTheSlowest(recording);
  for (size_t n = 0; n < to_try.size(); ++n)
    if (const auto& figures = recording.workers[to_try[n]].figures;
        outcomes[n].figures && figures->bytes > most.bytes)
      most = *figures;
  const std::string cost = Forecast{most.bytes, most.flush_ns}.Text();
  std::string came = most.steps == 0 ? cost : fmt::format("{:.0f} steps: {}", most.steps, cost);
  if (told == 0) came = met.empty() ? "no step was seen" : "";
  if (!met.empty()) came += (came.empty() ? "" : "; ") + met;
  observer.OnDone("trial", came);
  return window.EnoughRun();
}

void KeepRecorded(Recording& recording, const std::vector<TraceEvidence>& traces) {
  struct Kept {
    ProfileFigures dearest;
    std::vector<std::string> instances;
  };
  std::map<std::string, Kept> by_kind;
  for (RecordedWorker& worker : recording.workers) {
    const WorkerExpectation& expectation = worker.expectation;
    if (expectation.trouble || expectation.by_stage) continue;
    std::vector<TraceCount> counts;
    for (const TraceEvidence& trace : traces) {
      if (!expectation.Brought(trace.path) || !InWindow(expectation, trace)) continue;
      std::error_code failed;
      const uintmax_t bytes = std::filesystem::file_size(trace.path, failed);
      if (failed) continue;
      counts.push_back({.bytes = bytes,
                        .events = trace.events,
                        .steps = trace.steps.value_or(0) + trace.empty_steps,
                        .first_unix_ns = trace.first_unix_ns,
                        .last_unix_ns = trace.last_unix_ns,
                        .whole = !trace.defect});
    }
    worker.recorded = FiguresOf(counts, worker.written_unix_ns);
    if (!worker.recorded) continue;
    if (!worker.start) worker.recorded->flush_ns = 0;
    worker.recorded->table_ns = worker.table_ns;
    if (worker.recorded->steps <= 0 && expectation.steps_named) continue;
    ProfileFigures figures = *worker.recorded;
    if (worker.figures && worker.start) {
      figures.fixed_ns = std::min(worker.figures->fixed_ns, figures.flush_ns);
      figures.LearnFixed(*worker.figures);
    }
    Kept& kept = by_kind[KeyOf(recording, worker)];
    if (kept.instances.empty() || figures.flush_ns > kept.dearest.flush_ns) kept.dearest = figures;
    kept.instances.push_back(worker.facts.instance.Text());
  }
  for (const auto& [key, kept] : by_kind)
    for (const std::string& instance : kept.instances)
      KeepFigures(key, kept.dearest, instance, recording.clocks.unix_ns / 1'000'000'000);
}

}  // namespace tacho
