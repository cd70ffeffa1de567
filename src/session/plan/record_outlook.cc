#include "session/plan/record_outlook.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/disk_room.h"
#include "control/launch/profile_needs.h"
#include "control/live/session_lock.h"
#include "session/daemon/daemon_folder.h"
#include "session/files/trace_folder.h"
#include "session/http/flush_progress.h"
#include "session/http/step_count.h"

namespace tacho {
namespace {

constexpr int64_t kTableToTellNs = 100'000'000;
constexpr double kFewSteps = 8;  // fewer steps in a trial make a forecast uncertain

// Says which recording the figures come from; "" if all come from a trial.
std::string KeptText(const Recording& recording) {
  std::optional<int64_t> last;
  for (const RecordedWorker& worker : recording.workers)
    if (worker.figures && worker.figures_unix_s)
      last = std::max(last.value_or(0), *worker.figures_unix_s);
  if (!last) return "";
  return *last > 0 ? fmt::format("; by the recording of {}", SinceText(*last))
                   : "; by an earlier recording";
}

// Says how much room the traces need, and reports each folder in which they do not fit.
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
    const std::string& written = worker.written_at;
    if (!written.empty()) by_folder[written] += bytes;
    const std::string out = recording.folder.path();
    // On one disk the run folder only links to the files; on another disk it needs room for copies.
    if (written.empty() || FreeBytes(written) != FreeBytes(out)) by_folder[out] += bytes;
  }
  for (const auto& [folder, bytes] : by_folder)
    if (const auto room = FreeBytes(folder); room && static_cast<double>(*room) < bytes)
      ReportFinding(recording, observer,
                    {FindingId::kLittleRoom, folder,
                     fmt::format("{} are free, and about {} are expected there",
                                 SizeText(static_cast<double>(*room)), SizeText(bytes))});
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

// Reports the first worker whose table takes most of the flush.
void RemarkTables(Recording& recording, RecordObserver& observer) {
  for (const RecordedWorker& worker : recording.workers)
    if (worker.figures && worker.figures->table_ns > kTableToTellNs &&
        2 * worker.figures->table_ns > worker.figures->flush_ns) {
      const bool may_be_off = worker.facts.profiler.dump_table.value_or(true);
      ReportFinding(recording, observer,
                    {FindingId::kTableOfAverages, worker.worker.url,
                     fmt::format("its table of averages (profiler_out) takes {:.0f} % of its flush",
                                 100 * worker.figures->table_ns / worker.figures->flush_ns),
                     may_be_off ? "a vLLM on a GPU makes none when it is started with "
                                  "torch_profiler_dump_cuda_time_total false"
                                : "nothing to do: vLLM on a CPU always makes one"});
      break;  // all workers of a deployment are similar
    }
}

// Why the forecast may be far off; "" if it is based on enough data.
std::string WhyUnsure(const Recording& recording, std::optional<double> requests_per_s) {
  const int64_t baseline_ns = recording.baseline.end_ns - recording.baseline.begin_ns;
  if (requests_per_s && *requests_per_s <= 0)
    return fmt::format("no request ended in the baseline of {}", SecondsText(baseline_ns));
  for (const RecordedWorker& worker : recording.workers)
    if (worker.figures && !worker.figures_unix_s && worker.figures->steps > 0 &&
        worker.figures->steps < kFewSteps)
      return fmt::format("{:.0f} step{} of {} in its trial", worker.figures->steps,
                         worker.figures->steps == 1 ? "" : "s", worker.worker.url);
  return "";
}

std::vector<Outlook> OutlooksOf(const Recording& recording,
                                const std::vector<std::optional<double>>& rates, bool sure) {
  std::vector<Outlook> outlooks;
  for (size_t i = 0; i < recording.workers.size(); ++i) {
    const RecordedWorker& worker = recording.workers[i];
    Outlook outlook{.figures = worker.figures,
                    .steps_per_s = i < rates.size() ? rates[i] : std::nullopt,
                    .counts_steps = worker.start && worker.facts.profiler.reads_body,
                    .stalls = worker.start.has_value(),
                    .sure = sure};
    // A worker that took no step in the baseline may take some in the window.
    if (outlook.steps_per_s.value_or(0) <= 0 && worker.figures && worker.figures->window_ns > 0)
      outlook.steps_per_s = worker.figures->steps * 1e9 / worker.figures->window_ns;
    outlooks.push_back(outlook);
  }
  return outlooks;
}

}  // namespace

void PlanStartOf(RecordedWorker& worker, const WindowPlan& plan) {
  ProfileOptions profile = worker.profile;
  profile.steps = plan.steps;
  profile.at_once = plan.by_budget;
  if (Result<ControlRequest> start = PlanStart(worker.worker, worker.facts, profile))
    worker.start = std::move(*start);
}

void PlanRecording(const RecordOptions& options, RecordObserver& observer,
                   const std::vector<std::optional<double>>& rates,
                   std::optional<double> requests_per_s, Recording& recording) {
  const std::string unsure = WhyUnsure(recording, requests_per_s);
  const std::vector<Outlook> outlooks = OutlooksOf(recording, rates, unsure.empty());
  AskedWindow asked{.steps = options.profile.steps,
                    .time = options.window_asked || options.window_requests.has_value(),
                    .window_ns = options.window_ns};
  if (options.whole_load) asked.time = true;
  recording.window = PlanWindow(outlooks, options.budget, asked);
  const WindowPlan& plan = recording.window;
  AskedWindow said = asked;
  if (options.window_requests && requests_per_s && *requests_per_s > 0) {
    // The time that these requests will take, and not the longest time to wait for them.
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
    PlanStartOf(worker, plan);
    if (auto bound = EndsByOwnBound(worker.worker.url, worker.facts);
        bound && !worker.expectation.steps_bound)
      ReportFinding(recording, observer, *std::move(bound));
  }
  if (options.whole_load && !options.profile.steps) {
    observer.OnDone("forecast", WholeLoadText(recording));
    return;
  }
  observer.OnDone("forecast", spoken.Text(said, options.budget) + KeptText(recording) +
                                  RoomText(recording, observer));
  if (!unsure.empty())
    ReportFinding(recording, observer,
                  {FindingId::kForecastUnsure, "", "the forecast rests on little: " + unsure});
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

}  // namespace tacho
