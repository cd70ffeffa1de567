#include "session/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "base/pause.h"
#include "control/live/open_session.h"
#include "session/driver.h"
#include "session/http/flush_progress.h"
#include "session/http/window_end.h"
#include "session/load/record_load.h"
#include "session/load/token_flow.h"
#include "session/plan/empty_window.h"
#include "session/plan/overhead_windows.h"
#include "session/plan/preflight.h"
#include "session/plan/record_outlook.h"
#include "session/plan/worker_figures.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kMostForMetrics{10'000};
constexpr std::chrono::milliseconds kLook{200};
constexpr int64_t kStepsMayTakeNs = 1'000'000'000;  // tolerated beyond twice the planned time

bool IsLate(int64_t elapsed_ns, int64_t planned_ns) {
  return elapsed_ns > 2 * planned_ns + kStepsMayTakeNs;
}

// One running recording.
class Recorder {
 public:
  Recorder(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
           std::stop_token stop, Preflight preflight, RunFolder folder)
      : client_(client),
        options_(options),
        observer_(observer),
        stop_(std::move(stop)),
        lock_(std::move(preflight.lock)),
        driver_(std::move(preflight.driver)),
        recording_{.folder = std::move(folder),
                   .via = driver_->via(),
                   .deployment = std::move(preflight.deployment),
                   .workers = std::move(preflight.workers),
                   .left_out = std::move(preflight.left_out),
                   .clocks = ReadClocks(),
                   .findings = std::move(preflight.findings)},
        load_(client, options, observer, recording_),
        flow_(client, options, observer, load_, stop_) {}

  Result<Recording> Run() {
    const std::unique_ptr<DriverWindow> window = driver_->Open(client_, observer_, recording_);
    // Ends old sessions first, because one that is still running would slow down the unprofiled
    // window.
    bool free = !AnyOpenSession() || window->EndOldSessions(stop_);
    if (free) {
      if (!StartsIdle()) TACHO_RETURN_IF_ERROR(load_.Begin());
      free = RunUnprofiled(*window);
    }
    if (!free && !stop_.stop_requested()) window->GiveUpTheOthers();
    if (free && !stop_.stop_requested()) {
      RunWindow(*window);
      for (RecordedWorker& worker : recording_.workers) {
        worker.expectation.steps_go_on = !options_.load || load_went_on_;
        if (worker.before && worker.after)
          worker.expectation.steps_by_metrics = StepsBetween(*worker.before, *worker.after);
      }
    }
    std::ranges::move(flow_.TakeFindings(), std::back_inserter(recording_.findings));
    // If no profiler was started, the load is still running.
    TACHO_RETURN_IF_ERROR(load_.End(interrupted_ns_));
    if (recording_.load && recording_.flushed_ns > 0)
      recording_.load->MarkFlush(recording_.profiled.end_ns, recording_.flushed_ns);
    if (const int64_t at_ns = interrupted_ns_; at_ns != 0) {
      recording_.interrupted_ns = at_ns;
      for (RecordedWorker& worker : recording_.workers)
        worker.expectation.interrupted = at_ns <= recording_.profiled.end_ns;
      SetNotStarted("the recording was interrupted first", "record again");
    }
    if (recording_.AnyStarted())
      observer_.OnLeftBehind(
          fmt::format("the traces are in {}; there is no run.json, so they are not proven\n",
                      recording_.folder.In("traces")));
    return std::move(recording_);
  }

 private:
  // Whether the load begins only after the profilers started. In a recording by stage, SGLang's
  // profiler V1 loses the prefill stage if a decode step comes first. A given load is recorded from
  // its first request.
  bool StartsIdle() const {
    return options_.given_load || options_.profile.IsOn("profile_by_stage");
  }

  // Waits for `time_ns`, or until `done` returns true, and shows the load's progress. Returns false
  // if the recording is stopped. `planned_ns`: the expected time until `done`, if known.
  bool Wait(std::string_view phase, int64_t time_ns, const std::function<bool()>& done = {},
            std::optional<int64_t> planned_ns = {}) {
    int64_t begin = MonotonicNs();
    while (MonotonicNs() - begin < time_ns) {
      if (done && done()) return true;
      std::string text = SecondsText(MonotonicNs() - begin);
      if (planned_ns)
        text += fmt::format(" of about {}{}", SecondsText(*planned_ns),
                            IsLate(MonotonicNs() - begin, *planned_ns)
                                ? ": the engine may be writing its trace"
                                : "");
      else if (time_ns != INT64_MAX)
        text += " of " + SecondsText(time_ns);
      observer_.OnProgress(phase, text + load_.ProgressText());
      if (!Pause(stop_, kLook)) return false;
    }
    return true;
  }

  // Runs the warm-up, a trial of the profilers and a window without profiling; plans the recording
  // from their results. Returns false if no profiler can be started.
  bool RunUnprofiled(DriverWindow& window) {
    if (load_.Runs()) {
      if (!Wait("warm-up", options_.warm_up_ns)) return true;
      observer_.OnDone("warm-up",
                       fmt::format("{}, {} requests done", SecondsText(options_.warm_up_ns),
                                   load_.progress().done.load()));
      if (load_.AllFail()) {
        if (!load_.End(interrupted_ns_)) return false;
        SetNotStarted("no request of the load was answered: " + load_.FirstError(),
                      "other requests (--prompt-tokens, --output-tokens, --dataset), or other "
                      "options of the engine");
        return false;
      }
      if (!flow_.AwaitAll(window, "warm-up", 0, recording_)) return false;
      if (stop_.stop_requested()) return true;
    }
    if (!(window.EndOldSessions(stop_) && window.LeaveOutTaken(stop_))) return false;
    if (!FindFiguresOf(client_, options_, observer_, recording_, window, flow_, stop_) ||
        !flow_.AwaitAll(window, "baseline", MonotonicNs(), recording_))
      return false;
    std::vector<std::optional<double>> rates;
    std::optional<double> requests_per_s;
    if (load_.Runs()) {
      const auto before = Metrics();
      const uint64_t ended_before = load_.RequestsEnded();
      recording_.baseline.begin_ns = MonotonicNs();
      Wait("baseline", options_.baseline_ns);
      recording_.baseline.end_ns = MonotonicNs();
      const int64_t took_ns = recording_.baseline.end_ns - recording_.baseline.begin_ns;
      if (stop_.stop_requested()) return true;
      if (options_.baseline_ns > 0) {
        rates = StepRates(before, Metrics());
        requests_per_s = static_cast<double>(load_.RequestsEnded() - ended_before) * 1e9 /
                         static_cast<double>(took_ns);
        observer_.OnDone("baseline",
                         fmt::format("{} without profiling", SecondsText(options_.baseline_ns)));
      }
      if (options_.overhead) {
        RunOverheadWindows(client_, options_, observer_, recording_, load_, flow_, rates, stop_);
        if (stop_.stop_requested()) return true;
      }
    }
    PlanRecording(options_, observer_, rates, requests_per_s, recording_);
    return true;
  }

  void SetNotStarted(std::string_view why, const std::string& remedy) {
    for (RecordedWorker& worker : recording_.workers)
      if (!worker.expectation.trouble && worker.expectation.start_unix_ns == 0)
        worker.expectation.trouble =
            Finding{FindingId::kNotStarted, worker.worker.url,
                    fmt::format("its profiler was not started: {}", why), remedy};
  }

  // The metrics of each worker; absent for a worker that reports none.
  std::vector<std::optional<MetricsSnapshot>> Metrics() {
    std::vector<std::optional<MetricsSnapshot>> told;
    for (Result<MetricsSnapshot>& snapshot :
         ReadMetricsAll(client_, WorkersOf(recording_), MetricsPatience(), {})) {
      told.emplace_back();
      if (snapshot) told.back() = std::move(*snapshot);
    }
    return told;
  }

  void ReadMetrics(std::optional<MetricsSnapshot> RecordedWorker::*when) {
    std::vector<std::optional<MetricsSnapshot>> snapshots = Metrics();
    for (size_t i = 0; i < snapshots.size(); ++i)
      if (snapshots[i]) recording_.workers[i].*when = std::move(snapshots[i]);
  }

  std::chrono::milliseconds MetricsPatience() const {
    return std::min(ProbePatience(options_.patience), kMostForMetrics);
  }

  bool AnyOpenSession() const {
    return std::any_of(recording_.workers.begin(), recording_.workers.end(),
                       [](const RecordedWorker& worker) {
                         return FindOpenSession(worker.worker, worker.facts).has_value();
                       });
  }

  void RunWindow(DriverWindow& window) {
    if (TakeWindow(window, options_.load && !StartsIdle())) {
      // The first window saw no step: repeats it once tokens flow again.
      const std::unique_ptr<DriverWindow> again = driver_->Open(client_, observer_, recording_);
      again->LeaveOutTroubled();
      TakeWindow(*again, false);
    }
  }

  // Returns true if the window must be repeated; then its files are gone.
  bool TakeWindow(DriverWindow& window, bool may_repeat) {
    const bool good = window.EndOldSessions(stop_) &&
                      (StartsIdle() || flow_.AwaitAll(window, "start", MonotonicNs(), recording_));
    if (!good && !stop_.stop_requested()) window.GiveUpTheOthers();
    if (!good || stop_.stop_requested()) {
      ReadMetrics(&RecordedWorker::after);
      return false;
    }
    ReadMetrics(&RecordedWorker::before);
    if (!window.Start(stop_)) {
      if (!stop_.stop_requested()) window.GiveUpTheOthers();
    } else if (!window.EndsItself()) {
      RunWhileProfiled(window);
    }
    std::vector<size_t> silent = SilentInWindow(recording_, window.running(), load_);
    for (size_t i : silent) recording_.workers[i].expectation.silent_under_load = true;
    if (!may_repeat || stop_.stop_requested()) silent.clear();
    // The load is cancelled at the stop, because its requests would only wait for the end of the
    // flush. It goes on if it is the user's own, or if the window may have to be repeated.
    load_went_on_ =
        options_.given_load && load_.Runs() && !load_.HasEnded() && !stop_.stop_requested();
    for (RecordedWorker& worker : recording_.workers)
      worker.expectation.had_work_at_stop =
          load_.Runs() && !load_.HasEnded() &&
          !(load_.BehindRouter() && recording_.workers.size() > 1) &&
          load_.AnswersOf(worker.worker.url).running > 0;
    if (window.EndsWithItsStop()) ReadMetrics(&RecordedWorker::after);
    window.Stop(
        [&] {
          if (!load_went_on_ && silent.empty()) load_.Cancel();
        },
        stop_, [&](const std::vector<size_t>& done) { ShowWhatIsDone(window, done); });
    const int64_t flushed_ns = MonotonicNs();
    if (!silent.empty() && load_.Runs() && !load_.HasEnded() && !stop_.stop_requested() &&
        ClearIfWithoutStep(window, observer_, silent, stop_, recording_))
      return true;
    if (!load_went_on_) load_.Cancel();
    window.Collect(stop_);
    if (load_went_on_) {
      recording_.flushed_ns = flushed_ns;
      FinishGivenLoad(flushed_ns);
    }
    if (!window.EndsWithItsStop()) ReadMetrics(&RecordedWorker::after);
    return false;
  }

  // Waits for the window's end while the profilers run.
  void RunWhileProfiled(DriverWindow& window) {
    WindowEnd& end =
        window_end_.emplace(client_, options_, recording_, window, load_, MetricsPatience(), stop_);
    if (StartsIdle()) {
      if (!options_.given_load)
        AddRemark(FindingId::kLoadAfterStart,
                  "by stage the load begins after the start: no warm-up, no unprofiled window");
      if (const auto begun = load_.Begin(); !begun)
        recording_.findings.push_back({FindingId::kLoadNotBegun, "", begun.error().message});
    } else {
      flow_.AwaitStarted(window, recording_);
    }
    end.Begin();
    Wait(
        "profile", end.MostNs(), [&] { return end.IsOver(); }, end.PlannedNs());
    end.End(observer_);
    const int64_t took_ns = recording_.profiled.end_ns - recording_.profiled.begin_ns;
    const std::optional<int64_t> planned_ns = end.PlannedNs();
    // An engine that counts its steps writes its trace within its next step, so its flush may lie
    // in the window.
    const bool has_flush = planned_ns && IsLate(took_ns, *planned_ns) && window.FilesThere();
    observer_.OnDone("profile", SecondsText(took_ns) +
                                    (has_flush ? fmt::format(", with the flush; its steps were to "
                                                             "take about {}",
                                                             SecondsText(*planned_ns))
                                               : ""));
  }

  void FinishGivenLoad(int64_t flushed_ns) {
    AddRemark(
        FindingId::kPartOfLoad,
        fmt::format("the profilers ran for the first {} of the load and wrote their traces for {}, "
                    "which is left out of the table of the load",
                    SecondsText(recording_.profiled.end_ns - recording_.profiled.begin_ns),
                    SecondsText(flushed_ns - recording_.profiled.end_ns)),
        "--whole-load records all of it");
    if (Wait("load", INT64_MAX, [&] { return load_.GaveUp(); }))
      observer_.OnDone("load", SecondsText(MonotonicNs() - flushed_ns) + " more without profilers");
  }

  // Shows what is recorded so far, because other workers still write long after their forecast
  // time.
  void ShowWhatIsDone(DriverWindow& window, const std::vector<size_t>& done) {
    if (!load_went_on_ && !load_.End(interrupted_ns_)) return;
    std::vector<size_t> writing;
    for (size_t i = 0; i < recording_.workers.size(); ++i) {
      WorkerExpectation& expectation = recording_.workers[i].expectation;
      if (std::find(done.begin(), done.end(), i) != done.end()) {
        expectation.stop_unix_ns = ReadClocks().unix_ns;
        window.CollectOf(i, stop_);
      } else if (!expectation.trouble) {
        writing.push_back(i);
        expectation.trouble =
            Finding{FindingId::kStillWriting, expectation.url, "its flush is still under way"};
      }
    }
    const LoadWindow profiled = recording_.profiled;
    observer_.OnPartly(recording_);
    recording_.profiled = profiled;  // the unfinished traces may still change the window's end
    for (size_t i : writing) recording_.workers[i].expectation.trouble.reset();
  }

  void AddRemark(FindingId id, std::string evidence, std::string remedy = "") {
    ReportFinding(recording_, observer_, {id, "", std::move(evidence), std::move(remedy)});
  }

  HttpClient& client_;
  const RecordOptions& options_;
  RecordObserver& observer_;
  const std::stop_token stop_;
  std::atomic<int64_t> interrupted_ns_ = 0;  // CLOCK_MONOTONIC, when the user pressed Ctrl-C
  const std::stop_callback<std::function<void()>> on_interrupt_{
      stop_, [this] { interrupted_ns_ = MonotonicNs(); }};
  SessionLock lock_;
  const std::unique_ptr<Driver> driver_;
  Recording recording_;
  RecordLoad load_;
  TokenFlow flow_;
  bool load_went_on_ = false;  // went on after the profilers were stopped
  // A member, so that the window's end need not wait for its last check of which engines live.
  std::optional<WindowEnd> window_end_;
};

}  // namespace

Result<Recording> Record(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                         std::stop_token stop) {
  const std::string key = "tacho-" + DateStamp(ReadClocks().unix_ns);
  TACHO_ASSIGN_OR_RETURN(RunFolder folder, RunFolder::Create(options.out, key));
  Result<Preflight> preflight = RunPreflight(client, options, folder, key, stop);
  if (!preflight) {
    folder.RemoveEmpty();
    return tl::unexpected(preflight.error());
  }
  if (options.overhead) {
    std::string why = preflight->driver->WhyNoOverhead();
    if (why.empty()) why = WhyNoOverhead(preflight->workers);
    if (!why.empty()) {
      folder.RemoveEmpty();
      return Fail(ErrorKind::kUsage, why);
    }
  }
  observer.OnDone("preflight", fmt::format("{} worker{}, by {}", preflight->workers.size(),
                                           preflight->workers.size() == 1 ? "" : "s",
                                           preflight->driver->Name()));
  for (const Finding& finding : preflight->findings) observer.OnRemark(finding.Text());
  Recorder recorder(client, options, observer, stop, std::move(*preflight), std::move(folder));
  return recorder.Run();
}

}  // namespace tacho
