#include "session/record_outlook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "control/session_lock.h"
#include "session/kept_figures.h"
#include "session/profiler_trial.h"
#include "session/proof_causes.h"
#include "session/step_count.h"
#include "session/trace_count.h"
#include "session/trace_folder.h"

namespace tacho {
namespace {

constexpr double kDearTrialNs = 500'000'000;
constexpr int64_t kTableToTellNs = 100'000'000;

std::string KeyOf(const Recording& recording, const RecordedWorker& worker) {
  return FiguresKey(worker.facts, worker.profile,
                    recording.via == Via::kDaemon ? "daemon" : "http");
}

// After how many steps the engine's own configuration ends each session.
std::optional<int64_t> OwnBound(const ProfilerFacts& profiler) {
  if (profiler.wait_iterations.value_or(0) + profiler.warmup_iterations.value_or(0) > 0)
    return profiler.active_iterations;
  if (profiler.max_iterations.value_or(0) > 0) return profiler.max_iterations;
  return std::nullopt;
}

// Engines of one kind that were tried at once differ by chance: each may be as slow as the slowest.
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

// Of an engine's first trial, by its second one: where no fixed part can be told, the mean of both.
void Join(ProfileFigures& figures, const ProfileFigures& second) {
  if ((figures.LearnFixed(second) && figures.fixed_ns > 0) || second.events <= 0) return;
  const double times = figures.events / second.events;
  figures.flush_ns = (figures.flush_ns + second.flush_ns * times) / 2;
  figures.table_ns = (figures.table_ns + second.table_ns * times) / 2;
}

// By which recording the figures of the others are known; "" where all come of a trial.
std::string KeptText(const Recording& recording) {
  std::optional<int64_t> last;
  for (const RecordedWorker& worker : recording.workers)
    if (worker.figures && worker.figures_unix_s)
      last = std::max(last.value_or(0), *worker.figures_unix_s);
  if (!last) return "";
  return *last > 0 ? fmt::format("; by the recording of {}", SinceText(*last))
                   : "; by an earlier recording";
}

void Remark(Recording& recording, RecordObserver& observer, std::string text) {
  observer.OnRemark(text);
  recording.remarks.push_back(std::move(text));
}

// The room that the traces take, by the folder in which they are written.
std::string RoomText(Recording& recording, RecordObserver& observer) {
  std::map<std::string, double> by_folder;
  double all = 0;
  int ranks = 0;
  for (const RecordedWorker& worker : recording.workers) {
    if (!worker.forecast) continue;
    const int of_worker = worker.facts.ExpectedRanks().value_or(1);
    const double bytes = worker.forecast->bytes * of_worker;
    ranks += of_worker;
    all += bytes;
    if (!worker.folder.empty()) by_folder[worker.folder] += bytes;
    const std::string out = recording.folder.path();
    std::error_code failed;
    // Elsewhere they are linked.
    if (worker.folder.empty() || FreeBytes(worker.folder) != FreeBytes(out))
      by_folder[out] += bytes;
  }
  for (const auto& [folder, bytes] : by_folder)
    if (const auto room = FreeBytes(folder); room && static_cast<double>(*room) < bytes)
      Remark(recording, observer,
             fmt::format("{}: {} are free, and about {} are expected there", folder,
                         SizeText(static_cast<double>(*room)), SizeText(bytes)));
  return all > 0 && ranks > 1 ? fmt::format("; {} of disk for {} ranks", SizeText(all), ranks) : "";
}

std::string WholeLoadText(const Recording& recording) {
  std::string text = "the whole load, without a bound";
  Forecast most;
  for (const RecordedWorker& worker : recording.workers) {
    if (!worker.figures) continue;
    const Forecast each = ForecastOfSteps(*worker.figures, 1'000);
    most.bytes = std::max(most.bytes, each.bytes);
    most.flush_ns = std::max(most.flush_ns, each.flush_ns);
  }
  if (most.bytes > 0) text += ": about " + most.Text() + " a rank for 1,000 steps";
  return text;
}

// Gives each worker the figures that were kept of it. Gives those that are to be tried.
std::vector<size_t> FindKept(const RecordOptions& options, Recording& recording,
                             const std::vector<size_t>& running) {
  std::vector<size_t> to_try;
  for (size_t i = 0; i < recording.workers.size(); ++i) {
    RecordedWorker& worker = recording.workers[i];
    const std::optional<KeptFigures> kept = FindFigures(KeyOf(recording, worker));
    if (kept) worker.figures = kept->figures;
    if (kept) worker.figures_unix_s = kept->unix_s.value_or(0);
    if ((!kept || !kept->Knows(worker.facts.instance)) && MayTry(worker, options) &&
        std::find(running.begin(), running.end(), i) != running.end())
      to_try.push_back(i);
  }
  return to_try;
}

// A trial of each of `to_try`, and a second one where the first flush was dear.
std::vector<TrialOutcome> RunTrials(HttpClient& client, const RecordOptions& options,
                                    RecordObserver& observer, const Recording& recording,
                                    const std::vector<size_t>& to_try,
                                    const std::stop_token& stop) {
  std::vector<TrialOutcome> outcomes =
      RunTrial(client, options, observer, recording, to_try, TrialSize::kWhole, stop);
  // Whether a dear flush is dear for its steps or by itself, a smaller session tells. A first flush
  // pays besides for what is done once in an engine's life: that counts as the steps' then, so that
  // fewer are recorded rather than more.
  const bool dear = std::any_of(outcomes.begin(), outcomes.end(), [](const TrialOutcome& one) {
    return one.figures && one.figures->flush_ns > kDearTrialNs;
  });
  const bool well = std::none_of(outcomes.begin(), outcomes.end(),
                                 [](const TrialOutcome& one) { return !one.failed.empty(); });
  if (dear && well && !stop.stop_requested()) {
    const std::vector<TrialOutcome> again =
        RunTrial(client, options, observer, recording, to_try, TrialSize::kQuarter, stop);
    std::vector<std::string>& left = outcomes.front().left_files;
    left.insert(left.end(), again.front().left_files.begin(), again.front().left_files.end());
    for (size_t n = 0; n < to_try.size(); ++n) {
      if (again[n].figures && outcomes[n].figures) Join(*outcomes[n].figures, *again[n].figures);
      outcomes[n].failed = again[n].failed;
    }
  }
  return outcomes;
}

// Names a table that takes most of its flush.
void RemarkTables(Recording& recording, RecordObserver& observer) {
  for (const RecordedWorker& worker : recording.workers)
    if (worker.figures && worker.figures->table_ns > kTableToTellNs &&
        2 * worker.figures->table_ns > worker.figures->flush_ns) {
      Remark(
          recording, observer,
          fmt::format("{}: its table of averages (profiler_out) takes {:.0f} % of its flush{}",
                      worker.worker.url, 100 * worker.figures->table_ns / worker.figures->flush_ns,
                      worker.facts.profiler.dump_table.value_or(true)
                          ? "; a vLLM on a GPU makes none when it is started with "
                            "torch_profiler_dump_cuda_time_total false"
                          : ": vLLM on a CPU always makes one"));
      break;  // of one deployment all are alike
    }
}

std::vector<Outlook> OutlooksOf(const Recording& recording,
                                const std::vector<std::optional<double>>& rates) {
  const bool daemon = recording.via == Via::kDaemon;
  std::vector<Outlook> outlooks;
  for (size_t i = 0; i < recording.workers.size(); ++i) {
    const RecordedWorker& worker = recording.workers[i];
    Outlook outlook{.figures = worker.figures,
                    .steps_per_s = i < rates.size() ? rates[i] : std::nullopt,
                    .counts_steps = !daemon && worker.facts.profiler.reads_body,
                    .stalls = !daemon};
    // One that took no step in the baseline may take some in the window.
    if (outlook.steps_per_s.value_or(0) <= 0 && worker.figures && worker.figures->window_ns > 0)
      outlook.steps_per_s = worker.figures->steps * 1e9 / worker.figures->window_ns;
    outlooks.push_back(outlook);
  }
  return outlooks;
}

}  // namespace

bool FindFiguresOf(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                   Recording& recording, ProfilerSession& session, std::stop_token stop) {
  const std::vector<size_t> to_try = FindKept(options, recording, session.running());
  if (recording.via == Via::kDaemon || options.given_load || to_try.empty()) return true;
  std::vector<TrialOutcome> outcomes =
      RunTrials(client, options, observer, recording, to_try, stop);
  const std::vector<std::string>& left = outcomes.front().left_files;
  if (!left.empty())
    Remark(recording, observer,
           fmt::format(
               "files of the trial stay in the engine's folder: {}{}; tacho analyze of that "
               "folder reads them as well, until you remove them",
               left.front(), left.size() == 1 ? "" : fmt::format(" and {} more", left.size() - 1)));
  size_t told = 0;
  ProfileFigures most;
  std::string met;  // what went wrong with the first one
  for (size_t n = 0; n < to_try.size(); ++n) {
    RecordedWorker& worker = recording.workers[to_try[n]];
    if (outcomes[n].figures) {
      worker.figures = outcomes[n].figures;
      worker.figures_unix_s.reset();
      ++told;
    }
    worker.trial_start_ns = outcomes[n].start_ns;
    const std::string& wrong = outcomes[n].failed.empty() ? outcomes[n].met : outcomes[n].failed;
    if (!wrong.empty() && met.empty()) met = worker.worker.url + ": " + wrong;
    if (!outcomes[n].failed.empty()) session.LeaveOut(to_try[n], outcomes[n].failed);
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
  return session.EnoughRun();
}

void PlanRecording(const RecordOptions& options, RecordObserver& observer,
                   const std::vector<std::optional<double>>& rates,
                   std::optional<double> requests_per_s, Recording& recording) {
  const std::vector<Outlook> outlooks = OutlooksOf(recording, rates);
  AskedWindow asked{.steps = options.profile.steps,
                    .time = options.window_asked || options.window_requests.has_value(),
                    .window_ns = options.window_ns};
  if (options.whole_load) asked.time = true;
  recording.window = PlanWindow(outlooks, options.budget, asked);
  const WindowPlan& plan = recording.window;
  AskedWindow said = asked;
  if (options.window_requests && requests_per_s && *requests_per_s > 0) {
    // The time that they take, and not the most that is waited for them.
    const double ns = static_cast<double>(*options.window_requests) / *requests_per_s * 1e9;
    said.window_ns = static_cast<int64_t>(std::min(ns, static_cast<double>(asked.window_ns)));
  }
  const WindowPlan spoken = PlanWindow(outlooks, options.budget, said);
  for (size_t i = 0; i < recording.workers.size(); ++i) {
    RecordedWorker& worker = recording.workers[i];
    worker.forecast = spoken.each[i];
    worker.expectation.own_bound = OwnBound(worker.facts.profiler);
    if (!worker.start) continue;
    worker.expectation.steps_bound = worker.facts.profiler.reads_body ? plan.steps : std::nullopt;
    ProfileOptions profile = worker.profile;
    profile.steps = plan.steps;
    profile.at_once = plan.by_budget;
    if (Result<ControlRequest> start = PlanStart(worker.worker, worker.facts, profile))
      worker.start = std::move(*start);
    if (worker.expectation.own_bound && !worker.expectation.steps_bound)
      Remark(recording, observer,
             fmt::format(
                 "{}: its own configuration ends each session after {} steps "
                 "(max_iterations): its window will hold no more{}",
                 worker.worker.url, *worker.expectation.own_bound,
                 worker.facts.profiler.reads_body ? "; --steps N asks for another number" : ""));
  }
  if (options.whole_load && !options.profile.steps) {
    observer.OnDone("forecast", WholeLoadText(recording));
    return;
  }
  observer.OnDone("forecast", spoken.Text(said, options.budget) + KeptText(recording) +
                                  RoomText(recording, observer));
  RemarkTables(recording, observer);
}

std::vector<std::optional<double>> StepRates(
    const std::vector<std::optional<MetricsSnapshot>>& before,
    const std::vector<std::optional<MetricsSnapshot>>& after) {
  std::vector<std::optional<double>> rates(before.size());
  for (size_t i = 0; i < before.size() && i < after.size(); ++i) {
    if (!before[i] || !after[i] || after[i]->at_ns <= before[i]->at_ns) continue;
    const double seconds = static_cast<double>(after[i]->at_ns - before[i]->at_ns) / 1e9;
    for (const std::optional<int64_t>& steps : StepsBetween(*before[i], *after[i]))
      if (steps) rates[i] = std::max(rates[i].value_or(0), static_cast<double>(*steps) / seconds);
  }
  return rates;
}

void KeepRecorded(Recording& recording, const std::vector<TraceEvidence>& traces) {
  struct Kept {
    ProfileFigures dearest;
    std::vector<std::string> instances;
  };
  std::map<std::string, Kept> by_kind;
  for (RecordedWorker& worker : recording.workers) {
    const WorkerExpectation& expectation = worker.expectation;
    if (!expectation.trouble.empty() || expectation.by_stage) continue;
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
                        .whole = trace.defect.empty()});
    }
    worker.recorded = FiguresOf(counts, worker.written_unix_ns);
    if (!worker.recorded) continue;
    if (recording.via == Via::kDaemon) worker.recorded->flush_ns = 0;
    worker.recorded->table_ns = worker.table_ns;
    if (worker.recorded->steps <= 0 && expectation.steps_named) continue;
    ProfileFigures figures = *worker.recorded;
    if (worker.figures && recording.via == Via::kHttp) {
      figures.fixed_ns = std::min(worker.figures->fixed_ns, figures.flush_ns);
      figures.LearnFixed(*worker.figures);
    }
    Kept& kept = by_kind[KeyOf(recording, worker)];
    if (kept.instances.empty() || figures.flush_ns > kept.dearest.flush_ns) kept.dearest = figures;
    kept.instances.push_back(worker.facts.instance);
  }
  for (const auto& [key, kept] : by_kind)
    for (const std::string& instance : kept.instances)
      KeepFigures(key, kept.dearest, instance, recording.clocks.unix_ns / 1'000'000'000);
}

}  // namespace tacho
