#include "session/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>

#include "base/pause.h"
#include "net/clock.h"
#include "session/background_load.h"
#include "session/daemon_window.h"
#include "session/fetch_files.h"
#include "session/flush_progress.h"
#include "session/preflight.h"
#include "session/trace_folder.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kMostForMetrics{10'000};
constexpr std::chrono::milliseconds kLook{200};

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
                   .plan = {},
                   .load = {},
                   .baseline = {},
                   .profiled = {},
                   .clocks = ReadClocks(),
                   .start_spread_ns = 0,
                   .interrupted = false,
                   .remarks = std::move(preflight.remarks),
                   .troubles = std::move(preflight.troubles)} {}

  Result<Recording> Run() {
    if (!StartsIdle()) TACHO_RETURN_IF_ERROR(BeginLoad());
    RunUnprofiled();
    if (!stop_.stop_requested()) {
      ReadMetrics(&RecordedWorker::before);
      if (recording_.via == Via::kDaemon)
        RunDaemonWindow();
      else
        RunHttpWindow();
      ReadMetrics(&RecordedWorker::after);
      CountSteps();
    }
    TACHO_RETURN_IF_ERROR(EndLoad());
    recording_.interrupted = stop_.stop_requested();
    return std::move(recording_);
  }

 private:
  // SGLang's first profiler, by stage, loses the prefill stage where a decode step comes first
  // (engines.md 2.2); a load that was given is recorded as a whole: both begin behind the start.
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
    Result<LoadPlan> planned = PlanOf(options_, recording_.workers, recording_.remarks);
    if (!planned) return tl::unexpected(planned.error());
    recording_.plan = std::move(*planned);
    load_ = std::make_unique<BackgroundLoad>(client_, *recording_.plan, std::move(*targets));
    return true;
  }

  // Lets `time` go by, with what the load does as progress; false when stopped.
  bool Wait(std::string_view phase, int64_t time_ns, const std::function<bool()>& done = {}) {
    int64_t begin = MonotonicNs();
    while (MonotonicNs() - begin < time_ns) {
      if (done && done()) return true;
      std::string text = SecondsText(MonotonicNs() - begin);
      if (time_ns != INT64_MAX) text += " of " + SecondsText(time_ns);
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

  void RunUnprofiled() {
    if (!load_) return;
    if (!Wait("warm-up", options_.warm_up_ns)) return;
    observer_.OnDone("warm-up",
                     fmt::format("{}, {} requests done", SecondsText(options_.warm_up_ns),
                                 load_->progress().done.load()));
    recording_.baseline.begin_ns = MonotonicNs();
    Wait("baseline", options_.baseline_ns);
    recording_.baseline.end_ns = MonotonicNs();
    if (!stop_.stop_requested() && options_.baseline_ns > 0)
      observer_.OnDone("baseline",
                       fmt::format("{} without profiling", SecondsText(options_.baseline_ns)));
  }

  // All that was planned is through, or nothing of it can be: the window need not be longer.
  bool LoadEnded() {
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
  void ReadMetrics(std::optional<MetricsSnapshot> RecordedWorker::*when) {
    std::vector<Result<MetricsSnapshot>> snapshots =
        ReadMetricsAll(client_, Workers(), MetricsPatience(), {});
    for (size_t i = 0; i < snapshots.size(); ++i)
      if (snapshots[i]) recording_.workers[i].*when = std::move(*snapshots[i]);
  }

  std::chrono::milliseconds MetricsPatience() const {
    return std::min(ProbePatience(options_.patience), kMostForMetrics);
  }

  void CountSteps() {
    for (RecordedWorker& worker : recording_.workers) {
      if (!worker.before || !worker.after) continue;
      for (const EngineCounters& after : worker.after->engines)
        for (const EngineCounters& before : worker.before->engines)
          if (after.engine == before.engine && after.steps && before.steps)
            worker.expectation.steps_by_metrics.push_back(
                static_cast<int64_t>(*after.steps - *before.steps));
    }
  }

  // Whether every engine has taken the steps asked for and the one behind them, which flushes; by
  // its metrics.
  bool StepsTaken() {
    // By stage each stage has its own count, which no metric tells.
    if (!options_.profile.steps || options_.profile.IsOn("profile_by_stage") ||
        MonotonicNs() < next_count_ns_) {
      return false;
    }
    next_count_ns_ = MonotonicNs() + 500'000'000;
    auto delay = options_.profile.fields.find("delay_iterations");
    const int64_t needed = *options_.profile.steps + 1 +
                           (delay == options_.profile.fields.end() ? 0 : std::stoll(delay->second));
    std::vector<Result<MetricsSnapshot>> now =
        ReadMetricsAll(client_, Workers(), MetricsPatience(), stop_);
    for (size_t i = 0; i < now.size(); ++i) {
      const Result<MetricsSnapshot>& before = counted_from_[i];
      if (!now[i] || !before || now[i]->engines.size() != before->engines.size()) return false;
      for (size_t e = 0; e < before->engines.size(); ++e) {
        std::optional<double> from = before->engines[e].steps, to = now[i]->engines[e].steps;
        if (!from || !to || *to - *from <= static_cast<double>(needed)) return false;
      }
    }
    return true;
  }

  // Whether a file of each worker is whole already: engines that count write by themselves.
  bool FilesThere() const {
    return options_.profile.steps && !recording_.workers.empty() &&
           std::all_of(recording_.workers.begin(), recording_.workers.end(),
                       [&](const RecordedWorker& worker) {
                         size_t whole = 0;
                         for (const std::string& file : FilesOf(worker)) whole += LooksWhole(file);
                         return !worker.folder.empty() && whole >= ExpectedFiles(worker);
                       });
  }

  // One a rank, and one a stage where stages were asked for.
  size_t ExpectedFiles(const RecordedWorker& worker) const {
    const auto ranks = static_cast<size_t>(worker.facts.ExpectedRanks().value_or(1));
    return options_.profile.IsOn("profile_by_stage") ? 2 * ranks : ranks;
  }

  // What is new in the worker's folder and may be its own: by its key where the engine reads one.
  std::vector<std::string> FilesOf(const RecordedWorker& worker) const {
    std::vector<std::string> files;
    if (worker.folder.empty()) return files;
    auto before = before_.find(worker.folder);
    for (const std::string& file : NewFiles(
             before == before_.end() ? FolderState() : before->second, ReadFolder(worker.folder)))
      if (IsTraceName(file) &&
          std::string_view(file).substr(file.rfind('/') + 1).starts_with(PrefixOf(worker)))
        files.push_back(file);
    return files;
  }

  // What the names of the worker's files begin with; "" where the engine reads no key.
  static std::string_view PrefixOf(const RecordedWorker& worker) {
    const bool keyed = worker.facts.profiler.reads_body && worker.start &&
                       worker.start->body.find(worker.key) != std::string::npos;
    return keyed ? std::string_view(worker.key) : std::string_view();
  }

  void RunHttpWindow() {
    for (const RecordedWorker& worker : recording_.workers)
      if (!worker.folder.empty()) before_[worker.folder] = ReadFolder(worker.folder);
    std::string last_words;
    std::vector<ControlRequest> starts, stops;
    std::vector<EngineFacts> facts;
    for (const RecordedWorker& worker : recording_.workers) {
      starts.push_back(*worker.start);
      stops.push_back(*worker.stop);
      facts.push_back(worker.facts);
      last_words += worker.stop->AsCurl() + "\n";
    }
    ForgetOldSessions(stops, facts);
    if (stop_.stop_requested()) return;
    observer_.OnRunning(last_words);
    int64_t window_begin = ReadClocks().unix_ns;
    std::vector<ControlOutcome> started = SendAll(client_, starts, facts, options_.patience);
    recording_.start_spread_ns = StartSpreadNs(started);
    bool any = false;
    for (size_t i = 0; i < started.size(); ++i) {
      RecordedWorker& worker = recording_.workers[i];
      worker.started = started[i];
      worker.expectation.start_unix_ns = window_begin;
      bool good = started[i].verdict == ControlVerdict::kDone;
      any |= good;
      if (!good) {
        worker.expectation.trouble = "did not start: " + started[i].said;
        recording_.troubles.push_back(worker.worker.url + ": " + worker.expectation.trouble);
      }
    }
    observer_.OnDone("start", fmt::format("{} profilers told within {:.2f} ms", started.size(),
                                          static_cast<double>(recording_.start_spread_ns) / 1e6));
    if (any && (options_.keep_going || recording_.troubles.empty())) {
      // Engines step on while they start.
      if (options_.profile.steps)
        counted_from_ = ReadMetricsAll(client_, Workers(), MetricsPatience(), stop_);
      if (StartsIdle()) {
        if (!options_.given_load)
          Remark("by stage the load begins behind the start: no warm-up, no unprofiled window");
        if (auto begun = BeginLoad(); !begun) recording_.troubles.push_back(begun.error().message);
      }
      recording_.profiled.begin_ns = MonotonicNs();
      // Where the user drives, the window is his too.
      if (options_.given_load)
        Wait("load", INT64_MAX, [&] { return LoadEnded(); });
      else
        Wait("profile", options_.window_ns,
             [&] { return FilesThere() || StepsTaken() || LoadEnded(); });
      recording_.profiled.end_ns = MonotonicNs();
      observer_.OnDone("profile",
                       SecondsText(recording_.profiled.end_ns - recording_.profiled.begin_ns));
    }
    StopAndCollect(stops, facts);
  }

  // vLLM may hold a session that ended by itself and was never stopped: stopping it is cheap and
  // harmless. On SGLang a stop can end the server (its second profiler), so none is sent.
  void ForgetOldSessions(const std::vector<ControlRequest>& stops,
                         const std::vector<EngineFacts>& facts) {
    std::vector<ControlRequest> vllm;
    std::vector<EngineFacts> of;
    for (size_t i = 0; i < stops.size(); ++i)
      if (facts[i].kind == EngineKind::kVllm) vllm.push_back(stops[i]), of.push_back(facts[i]);
    if (!vllm.empty()) SendAll(client_, vllm, of, options_.patience, stop_);
  }

  void StopAndCollect(const std::vector<ControlRequest>& stops,
                      const std::vector<EngineFacts>& facts) {
    // An SGLang that counted its steps has stopped itself; to stop it again is an error there.
    std::vector<size_t> which;
    for (size_t i = 0; i < stops.size(); ++i) {
      bool self_stopped =
          facts[i].kind == EngineKind::kSglang && options_.profile.steps &&
          FilesOf(recording_.workers[i]).size() >= ExpectedFiles(recording_.workers[i]);
      if (!self_stopped) which.push_back(i);
    }
    std::vector<ControlRequest> requests;
    std::vector<EngineFacts> of;
    for (size_t i : which) requests.push_back(stops[i]), of.push_back(facts[i]);
    // Nothing cancels a stop but the user's second Ctrl-C: a profiler left running is worse than a
    // long wait.
    std::vector<std::atomic<int64_t>> took_ns(recording_.workers.size());
    int64_t begin = MonotonicNs();
    auto ended = [&](const ControlOutcome& outcome) {
      for (size_t i : which)
        if (stops[i].url == outcome.url) took_ns[i] = MonotonicNs() - begin;
    };
    auto answers = std::async(std::launch::async, [&] {
      return SendAll(client_, requests, of, options_.patience, {}, ended);
    });
    bool cancelled = false;
    while (answers.wait_for(kLook) != std::future_status::ready) {
      // The stop is on its way: requests that pile up behind the flush are of no use to anybody.
      if (load_ && !cancelled) load_->Cancel(), cancelled = true;
      observer_.OnProgress("stop", FlushText(MonotonicNs() - begin, Flushes(took_ns)));
    }
    std::vector<ControlOutcome> stopped = answers.get();
    if (load_ && !cancelled) load_->Cancel();
    for (size_t i = 0; i < which.size(); ++i) Settle(recording_.workers[which[i]], stopped[i]);
    int64_t window_end = ReadClocks().unix_ns;
    for (RecordedWorker& worker : recording_.workers) worker.expectation.stop_unix_ns = window_end;
    observer_.OnDone("stop", FlushSummary(MonotonicNs() - begin, Flushes(took_ns)));
    observer_.OnRunning("");
    for (size_t i = 0; i < recording_.workers.size(); ++i) Collect(recording_.workers[i], i);
    // vLLM answers 200 whatever became of the trace; its log knows.
    for (RecordedWorker& worker : recording_.workers)
      if (const std::string& failure = worker.log.Failure(); !failure.empty())
        Remark(fmt::format("{}: its log says: {}", worker.worker.url, failure));
  }

  void Remark(const std::string& text) {
    recording_.remarks.push_back(text);
    observer_.OnRemark(text);
  }

  void Settle(RecordedWorker& worker, const ControlOutcome& outcome) {
    worker.stopped = outcome;
    if (outcome.verdict == ControlVerdict::kDone || outcome.verdict == ControlVerdict::kWasSo)
      return;
    std::string trouble =
        outcome.verdict == ControlVerdict::kNoAnswer
            ? fmt::format("did not answer its stop: {}: it died in the flush, or hangs",
                          outcome.said)
            : fmt::format("refused to stop: HTTP {}: {}", outcome.status, outcome.said);
    if (worker.expectation.trouble.empty()) worker.expectation.trouble = trouble;
    recording_.troubles.push_back(worker.worker.url + ": " + trouble);
  }

  std::vector<FlushState> Flushes(const std::vector<std::atomic<int64_t>>& took_ns) {
    std::vector<FlushState> flushes;
    for (size_t i = 0; i < recording_.workers.size(); ++i) {
      RecordedWorker& worker = recording_.workers[i];
      FlushState flush{worker.worker.url, {}, {}, worker.log.LastWord()};
      if (!worker.folder.empty()) {
        FolderState now = ReadFolder(worker.folder);
        flush.bytes = 0;
        for (const std::string& file : FilesOf(worker)) *flush.bytes += now[file].bytes;
      }
      if (took_ns[i] != 0) flush.took_ns = took_ns[i];
      flushes.push_back(std::move(flush));
    }
    return flushes;
  }

  void Collect(RecordedWorker& worker, size_t index) {
    std::string target = recording_.folder.In(fmt::format("traces/w{}", index));
    Result<std::vector<std::string>> brought;
    auto progress = [&](uint64_t bytes) {
      observer_.OnProgress("collect", fmt::format("{} {:.1f} MB", worker.worker.url,
                                                  static_cast<double>(bytes) / 1e6));
    };
    // A worker that refused or died leaves what it leaves.
    const bool healthy = worker.expectation.trouble.empty();
    const std::stop_token stop = healthy ? std::stop_token() : stop_;
    if (worker.remote) {
      brought = FetchFiles(*worker.remote, PrefixOf(worker), worker.expectation.start_unix_ns,
                           target, options_.patience, stop, progress);
    } else {
      SettleOptions settle;
      settle.patience = options_.patience;
      settle.expected = healthy ? ExpectedFiles(worker) : 0;
      WaitForFiles(worker.folder, before_[worker.folder], settle, stop, progress);
      brought = BringFiles(FilesOf(worker), target);
    }
    if (!brought) {
      recording_.troubles.push_back(brought.error().message);
      if (worker.expectation.trouble.empty()) worker.expectation.trouble = brought.error().message;
      return;
    }
    worker.expectation.files = std::move(*brought);
  }

  void RunDaemonWindow() {
    DaemonWindowOptions window;
    window.socket_folder = options_.socket_folder;
    window.duration_ns = options_.window_ns;
    window.with_stack = options_.profile.IsOn("with_stack");
    window.record_shapes = options_.profile.IsOn("record_shapes");
    window.patience = options_.patience;
    recording_.profiled = {};
    DaemonWindow outcome = TakeDaemonWindow(recording_.workers, window, stop_,
                                            [&](std::string_view phase, const std::string& what) {
                                              observer_.OnProgress(phase, what);
                                            });
    recording_.profiled.begin_ns = outcome.begin_ns;
    recording_.profiled.end_ns = outcome.end_ns;
    for (const std::string& trouble : outcome.troubles) recording_.troubles.push_back(trouble);
    observer_.OnDone(
        "profile", fmt::format("{} by the daemon, {} processes",
                               SecondsText(outcome.end_ns - outcome.begin_ns), outcome.processes));
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

  // Requests that failed before the load was told to end: how many, and what the first one heard.
  void NameFailures() {
    uint64_t failed = 0, done = 0;
    std::string first;
    for (const RequestRecord& request : recording_.load->requests) {
      done += request.status == RequestStatus::kDone;
      if (request.status != RequestStatus::kFailed) continue;
      if (failed++ == 0) first = request.error;
    }
    if (failed == 0) return;
    std::string text =
        fmt::format("load: {} of {} requests failed: {}", failed, failed + done, first);
    // A server that died under the load, and not some unlucky requests.
    if (failed > done)
      recording_.troubles.push_back(text);
    else
      Remark(text);
  }

  HttpClient& client_;
  const RecordOptions& options_;
  RecordObserver& observer_;
  const std::stop_token stop_;
  SessionLock lock_;
  Recording recording_;
  std::map<std::string, FolderState> before_;  // by folder
  std::unique_ptr<BackgroundLoad> load_;
  int64_t next_count_ns_ = 0;
  std::vector<Result<MetricsSnapshot>> counted_from_;  // behind the start, for --steps
  bool load_gave_up_ = false;
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
