#include "session/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>

#include "base/pause.h"
#include "control/liveness.h"
#include "net/clock.h"
#include "session/background_load.h"
#include "session/daemon_window.h"
#include "session/flush_progress.h"
#include "session/preflight.h"
#include "session/profiler_session.h"
#include "session/record_outlook.h"
#include "session/step_count.h"

namespace tacho {
namespace {

// A window by HTTP ends a look behind its load.
constexpr int64_t kIdleToTell = 1'000'000'000;
constexpr std::chrono::milliseconds kMostForMetrics{10'000};
constexpr std::chrono::milliseconds kLook{200};
constexpr int64_t kLookForLifeNs = 2'000'000'000;

// One recording under way.
class Recorder {
 public:
  Recorder(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
           std::stop_token stop, Preflight preflight, RunFolder folder)
      : client_(client),
        options_(options),
        observer_(observer),
        stop_(std::move(stop)),
        lock_(std::move(preflight.lock)),
        recording_{.folder = std::move(folder),
                   .via = preflight.via,
                   .deployment = std::move(preflight.deployment),
                   .workers = std::move(preflight.workers),
                   .left_out = std::move(preflight.left_out),
                   .clocks = ReadClocks(),
                   .remarks = std::move(preflight.remarks),
                   .troubles = std::move(preflight.troubles)} {}

  Result<Recording> Run() {
    ProfilerSession session(client_, options_, observer_, recording_);
    // One that was left running would weigh on the unprofiled window.
    bool free =
        recording_.via == Via::kDaemon || !AnyOpenSession() || session.EndOldSessions(stop_);
    if (free) {
      if (!StartsIdle()) TACHO_RETURN_IF_ERROR(BeginLoad());
      free = RunUnprofiled(session);
    }
    if (!free && !stop_.stop_requested()) session.GiveUpTheOthers();
    if (free && !stop_.stop_requested()) {
      if (recording_.via == Via::kDaemon)
        RunDaemonWindow();
      else
        RunHttpWindow(session);
      ReadMetrics(&RecordedWorker::after);
      for (RecordedWorker& worker : recording_.workers) {
        worker.expectation.steps_go_on = !options_.load || load_went_on_;
        if (worker.before && worker.after)
          worker.expectation.steps_by_metrics = StepsBetween(*worker.before, *worker.after);
      }
    }
    // Where no profiler was started the load is still under way.
    TACHO_RETURN_IF_ERROR(EndLoad());
    if (const int64_t at_ns = interrupted_ns_; at_ns != 0) recording_.interrupted_ns = at_ns;
    if (recording_.AnyStarted())
      observer_.OnLeftBehind(
          fmt::format("the traces are in {}; there is no run.json, so they are not proven\n",
                      recording_.folder.In("traces")));
    return std::move(recording_);
  }

 private:
  // SGLang's first profiler, by stage, loses the prefill stage where a decode step comes
  // first; a load that was given is recorded as a whole: both begin behind the start.
  bool StartsIdle() const {
    return options_.given_load || options_.profile.IsOn("profile_by_stage");
  }

  Result<bool> BeginLoad() {
    if (!options_.load) return true;
    if (const std::optional<GivenLoad>& given = options_.given_load) {
      recording_.plan = given->plan;
      load_ =
          std::make_unique<BackgroundLoad>(client_, *recording_.plan, given->targets, given->drive);
      return true;
    }
    Result<std::vector<DriveTarget>> targets =
        TargetsOf(client_, options_, recording_.deployment, recording_.workers, recording_.remarks);
    if (!targets) return tl::unexpected(targets.error());
    Result<LoadPlan> planned =
        PlanOf(options_, recording_.via, recording_.workers, recording_.remarks);
    if (!planned) return tl::unexpected(planned.error());
    recording_.plan = std::move(*planned);
    load_ = std::make_unique<BackgroundLoad>(client_, *recording_.plan, std::move(*targets));
    return true;
  }

  // Lets `time` go by, with what the load does as progress; false when stopped. `planned_ns`: how
  // long it is expected to be until it is `done`, where that is known.
  bool Wait(std::string_view phase, int64_t time_ns, const std::function<bool()>& done = {},
            std::optional<int64_t> planned_ns = {}) {
    int64_t begin = MonotonicNs();
    while (MonotonicNs() - begin < time_ns) {
      if (done && done()) return true;
      std::string text = SecondsText(MonotonicNs() - begin);
      if (planned_ns)
        text += " of about " + SecondsText(*planned_ns);
      else if (time_ns != INT64_MAX)
        text += " of " + SecondsText(time_ns);
      if (load_)
        text +=
            fmt::format(" · {} running, {} done, {} failed, {} tokens",
                        load_->progress().running.load(), load_->progress().done.load(),
                        load_->progress().failed.load(), load_->progress().output_tokens.load());
      observer_.OnProgress(phase, text);
      if (!Pause(stop_, kLook)) return false;
    }
    return true;
  }

  // Warm-up, a trial of the profilers, a window without them, and what is planned by all that.
  // False where nobody can be started.
  bool RunUnprofiled(ProfilerSession& session) {
    if (load_) {
      if (!Wait("warm-up", options_.warm_up_ns)) return true;
      observer_.OnDone("warm-up",
                       fmt::format("{}, {} requests done", SecondsText(options_.warm_up_ns),
                                   load_->progress().done.load()));
    }
    if (recording_.via == Via::kHttp &&
        !(session.EndOldSessions(stop_) && session.LeaveOutTaken(stop_)))
      return false;
    if (!FindFiguresOf(client_, options_, observer_, recording_, session, stop_)) return false;
    std::vector<std::optional<double>> rates;
    std::optional<double> requests_per_s;
    if (load_) {
      const auto before = Metrics();
      const uint64_t ended_before = RequestsEnded();
      recording_.baseline.begin_ns = MonotonicNs();
      Wait("baseline", options_.baseline_ns);
      recording_.baseline.end_ns = MonotonicNs();
      const int64_t took_ns = recording_.baseline.end_ns - recording_.baseline.begin_ns;
      if (stop_.stop_requested()) return true;
      if (options_.baseline_ns > 0) {
        rates = StepRates(before, Metrics());
        requests_per_s = static_cast<double>(RequestsEnded() - ended_before) * 1e9 /
                         static_cast<double>(took_ns);
        observer_.OnDone("baseline",
                         fmt::format("{} without profiling", SecondsText(options_.baseline_ns)));
      }
    }
    PlanRecording(options_, observer_, rates, requests_per_s, recording_);
    return true;
  }

  uint64_t RequestsEnded() const {
    return load_ ? load_->progress().done + load_->progress().failed : 0;
  }

  // All that was planned is through, or nothing of it can be: the window need not be longer.
  bool LoadEnded() {
    if (options_.load && !load_) return true;  // it could not begin
    if (!load_ || !load_->ended()) return false;
    load_gave_up_ = true;
    return true;
  }

  std::vector<Worker> Workers() const {
    std::vector<Worker> workers;
    for (const RecordedWorker& worker : recording_.workers) workers.push_back(worker.worker);
    return workers;
  }

  // The engine's own word, asked of those that have it; an absent one stays absent.
  std::vector<std::optional<MetricsSnapshot>> Metrics() {
    std::vector<std::optional<MetricsSnapshot>> told;
    for (Result<MetricsSnapshot>& snapshot :
         ReadMetricsAll(client_, Workers(), MetricsPatience(), {})) {
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

  void RunHttpWindow(ProfilerSession& session) {
    const bool good = session.EndOldSessions(stop_);
    if (!good && !stop_.stop_requested()) session.GiveUpTheOthers();
    if (!good || stop_.stop_requested()) return;
    ReadMetrics(&RecordedWorker::before);
    if (session.Start(stop_))
      RunWhileProfiled(session);
    else if (!stop_.stop_requested())
      session.GiveUpTheOthers();
    // What is under way would only wait behind the flush; a load that was given is the user's.
    load_went_on_ = options_.given_load && load_ && !load_->ended() && !stop_.stop_requested();
    session.Stop(
        [this] {
          if (!load_went_on_) CancelLoad();
        },
        stop_, [&](const std::vector<size_t>& done) { ShowWhatIsDone(session, done); });
    const int64_t flushed_ns = MonotonicNs();
    session.Collect(stop_);
    if (load_went_on_) FinishGivenLoad(flushed_ns);
  }

  // The profilers run, until the window's end.
  void RunWhileProfiled(const ProfilerSession& session) {
    // Engines step on while they start.
    std::optional<StepCount> steps;
    const WindowPlan& plan = recording_.window;
    if (const auto needed = plan.by_budget ? plan.steps : StepsToFlush(options_.profile))
      steps.emplace(client_, Workers(), MetricsPatience(), plan.by_budget ? *needed - 1 : *needed,
                    stop_);
    if (StartsIdle()) {
      if (!options_.given_load)
        Remark("by stage the load begins after the start: no warm-up, no unprofiled window");
      if (auto begun = BeginLoad(); !begun) recording_.troubles.push_back(begun.error().message);
    }
    recording_.profiled.begin_ns = MonotonicNs();
    for (RecordedWorker& worker : recording_.workers)
      worker.expectation.all_running_unix_ns = ReadClocks().unix_ns;
    const uint64_t ended_before = RequestsEnded();
    const std::optional<uint64_t> wanted = options_.window_requests;
    const auto requests_ended = [&] { return RequestsEnded() - ended_before; };
    // Steps that were asked for of a load that was given may come late in it.
    const bool bounded = !options_.given_load || plan.by_budget;
    const auto over = [&] {
      return (wanted && requests_ended() >= *wanted) || session.FilesThere() ||
             (steps && StepsEnd(*steps)) || LoadEnded() || AllDead(session);
    };
    Wait("profile", bounded ? WindowNs(session) : INT64_MAX, over,
         steps && !plan.most_ns ? plan.planned_ns : std::nullopt);
    recording_.profiled.end_ns = MonotonicNs();
    NoteWindowsEnd(requests_ended());
    observer_.OnDone("profile",
                     SecondsText(recording_.profiled.end_ns - recording_.profiled.begin_ns));
  }

  // What the window's time cut off.
  void NoteWindowsEnd(uint64_t requests_ended) {
    const int64_t took_ns = recording_.profiled.end_ns - recording_.profiled.begin_ns;
    if (took_ns < recording_.window.window_ns) return;
    if (options_.profile.steps)
      for (RecordedWorker& worker : recording_.workers) {
        worker.expectation.ended_by_time_ns = took_ns;
        worker.expectation.time_asked = options_.window_asked;
      }
    if (const std::optional<uint64_t> wanted = options_.window_requests;
        wanted && requests_ended < *wanted)
      Remark(fmt::format("{} of {} requests ended in the window: it needs a longer --duration",
                         requests_ended, *wanted));
  }

  void FinishGivenLoad(int64_t flushed_ns) {
    Remark(
        fmt::format("the profilers ran for the first {} of the load and wrote their traces for {}: "
                    "the table of the load holds both (--whole-load records all of it)",
                    SecondsText(recording_.profiled.end_ns - recording_.profiled.begin_ns),
                    SecondsText(flushed_ns - recording_.profiled.end_ns)));
    if (Wait("load", INT64_MAX, [&] { return LoadEnded(); }))
      observer_.OnDone("load", SecondsText(MonotonicNs() - flushed_ns) + " more without profilers");
  }

  // From when the last profiler runs. What those that count by time recorded until then counts.
  int64_t WindowNs(const ProfilerSession& session) const {
    const std::optional<int64_t> latest_ns = session.LatestStopNs();
    const int64_t window_ns = recording_.window.window_ns;
    return latest_ns ? std::min(window_ns, *latest_ns - recording_.profiled.begin_ns) : window_ns;
  }

  // By the budget the others have as long again as the first one that took its steps: where a
  // worker has fewer requests, its steps are not waited for.
  bool StepsEnd(StepCount& steps) {
    if (steps.Taken()) return true;
    if (!recording_.window.by_budget || !steps.AnyTaken()) return false;
    const int64_t now_ns = MonotonicNs();
    if (first_taken_ns_ == 0) first_taken_ns_ = now_ns;
    return now_ns - first_taken_ns_ >= first_taken_ns_ - recording_.profiled.begin_ns;
  }

  // Whether no engine is left to wait for; asked beside the window, every other second.
  bool AllDead(const ProfilerSession& session) {
    if (dead_.valid()) {
      if (dead_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
      next_look_ns_ = MonotonicNs() + kLookForLifeNs;
      return dead_.get();
    }
    if (MonotonicNs() < next_look_ns_ || session.running().empty()) return false;
    std::vector<Worker> workers;
    std::vector<EngineFacts> facts;
    for (size_t i : session.running()) {
      workers.push_back(recording_.workers[i].worker);
      facts.push_back(recording_.workers[i].facts);
    }
    dead_ = std::async(std::launch::async, [this, workers, facts] {
      const std::vector<std::string> why = WhyDead(client_, workers, facts, kPatienceForLife);
      return std::none_of(why.begin(), why.end(), [](const std::string& w) { return w.empty(); });
    });
    return false;
  }

  // Others still write, and longer than was said: what is there is shown meanwhile.
  void ShowWhatIsDone(ProfilerSession& session, const std::vector<size_t>& done) {
    if (!load_went_on_ && !EndLoad()) return;
    std::vector<size_t> writing;
    for (size_t i = 0; i < recording_.workers.size(); ++i) {
      WorkerExpectation& expectation = recording_.workers[i].expectation;
      if (std::find(done.begin(), done.end(), i) != done.end()) {
        expectation.stop_unix_ns = ReadClocks().unix_ns;
        session.CollectOf(i, stop_);
      } else if (expectation.trouble.empty()) {
        writing.push_back(i);
        expectation.trouble = "its flush is still under way";
      }
    }
    observer_.OnPartly(recording_);
    for (size_t i : writing) recording_.workers[i].expectation.trouble.clear();
  }

  void CancelLoad() {
    if (load_) load_->Cancel();
  }

  void Remark(const std::string& text) {
    recording_.remarks.push_back(text);
    observer_.OnRemark(text);
  }

  void RunDaemonWindow() {
    ReadMetrics(&RecordedWorker::before);
    DaemonWindowOptions window;
    window.socket_folder = options_.socket_folder;
    window.duration_ns = recording_.window.window_ns;
    window.with_stack = options_.profile.IsOn("with_stack");
    window.record_shapes = options_.profile.IsOn("record_shapes");
    window.patience = options_.patience;
    recording_.daemon =
        TakeDaemonWindow(recording_.workers, window, stop_, observer_, [this] { CancelLoad(); });
    for (const std::string& trouble : recording_.daemon->troubles)
      recording_.troubles.push_back(trouble);
    for (const std::string& remark : recording_.daemon->remarks)
      recording_.remarks.push_back(remark);
    if (!recording_.daemon->begun()) return;
    recording_.profiled.begin_ns = recording_.daemon->begin_ns;
    recording_.profiled.end_ns = recording_.daemon->end_ns;
    observer_.OnDone("profile",
                     fmt::format("{} by the daemon, {} processes", SecondsText(window.duration_ns),
                                 recording_.daemon->processes));
  }

  Result<bool> EndLoad() {
    if (!load_) return true;
    // That it is told to end is no trouble; that it gave up before, or had nothing but failures,
    // is.
    bool by_itself = load_gave_up_;
    Result<LoadRecords> records = load_->Finish();
    load_.reset();
    if (!records) return tl::unexpected(records.error());
    recording_.load = std::move(*records);
    const int64_t idle_ns = recording_.profiled.end_ns - recording_.load->ended_ns;
    // A daemon's window outlives a load that Ctrl-C has ended.
    if (const int64_t at_ns = interrupted_ns_; at_ns != 0)
      recording_.profiled.end_ns =
          std::clamp(at_ns, recording_.profiled.begin_ns,
                     std::max(recording_.profiled.begin_ns, recording_.profiled.end_ns));
    else if (idle_ns > kIdleToTell)
      Remark(fmt::format("the load ended {} before the window did", SecondsText(idle_ns)));
    auto measure = [&](LoadWindow& window) {
      if (window.end_ns > window.begin_ns)
        window = MeasureWindow(*recording_.load, window.begin_ns, window.end_ns);
    };
    measure(recording_.baseline);
    measure(recording_.profiled);
    if (by_itself && !recording_.load->ended_early.empty())
      recording_.troubles.push_back("load: " + recording_.load->ended_early);
    NameFailures();
    return true;
  }

  // Requests that failed, or broke off in their answers, before the load was told to end: how many,
  // and what the first one heard.
  void NameFailures() {
    uint64_t failed = 0, done = 0, under_way = 0;
    std::string first;
    for (const RequestRecord& request : recording_.load->requests) {
      done += request.status == RequestStatus::kDone;
      under_way += request.status == RequestStatus::kCancelled && request.output_tokens > 0;
      if (request.status != RequestStatus::kFailed && request.status != RequestStatus::kPartial)
        continue;
      if (failed++ == 0) first = request.error;
    }
    if (failed == 0) return;
    std::string text =
        fmt::format("load: {} of {} requests failed: {}", failed, failed + done, first);
    // A server that died under the load, and not some unlucky requests: those that our end of the
    // load cut in their answers fared well.
    if (failed > done + under_way)
      recording_.troubles.push_back(text);
    else
      Remark(text);
  }

  HttpClient& client_;
  const RecordOptions& options_;
  RecordObserver& observer_;
  const std::stop_token stop_;
  std::atomic<int64_t> interrupted_ns_ = 0;  // CLOCK_MONOTONIC of the user's Ctrl-C
  const std::stop_callback<std::function<void()>> on_interrupt_{
      stop_, [this] { interrupted_ns_ = MonotonicNs(); }};
  SessionLock lock_;
  Recording recording_;
  std::unique_ptr<BackgroundLoad> load_;
  bool load_gave_up_ = false;
  bool load_went_on_ = false;   // after the profilers were stopped
  int64_t first_taken_ns_ = 0;  // when the first worker had its steps; 0: none has
  std::future<bool> dead_;      // AllDead, asked
  int64_t next_look_ns_ = 0;
};

}  // namespace

Result<Recording> Record(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                         std::stop_token stop) {
  std::string key = "tacho-" + DateStamp(ReadClocks().unix_ns);
  Result<RunFolder> folder = RunFolder::Create(options.out, key);
  if (!folder) return tl::unexpected(folder.error());
  Result<Preflight> preflight = RunPreflight(client, options, *folder, key, stop);
  if (!preflight) {
    folder->RemoveEmpty();
    return tl::unexpected(preflight.error());
  }
  observer.OnDone("preflight",
                  fmt::format("{} worker{}, by {}", preflight->workers.size(),
                              preflight->workers.size() == 1 ? "" : "s",
                              preflight->via == Via::kDaemon ? "Kineto's daemon" : "HTTP"));
  for (const std::string& remark : preflight->remarks) observer.OnRemark(remark);
  for (const std::string& trouble : preflight->troubles) observer.OnRemark(trouble);
  Recorder recorder(client, options, observer, stop, std::move(*preflight), std::move(*folder));
  return recorder.Run();
}

}  // namespace tacho
