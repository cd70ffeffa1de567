#include "session/plan/overhead_windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/monotonic_clock.h"
#include "base/pause.h"
#include "base/random.h"
#include "control/version.h"
#include "session/http/flush_progress.h"
#include "session/http/side_session.h"
#include "session/http/step_count.h"
#include "session/http/window_end.h"

namespace tacho {
namespace {

constexpr int64_t kMostByDefaultNs = 300'000'000'000;
// The pause between something that disturbs the engine (a start, a flush) and a window.
constexpr int64_t kSettleNs = 500'000'000;
// The longest random time (jitter) that is added to kSettleNs; a jitter is never longer than a
// window. Without it, requests of equal length, which begin together again and again, might be in
// step with the windows, and each window would hold too many or too few prefills. With jitter the
// windows differ by chance, which the error bounds show.
constexpr int64_t kMostJitterNs = 1'000'000'000;
constexpr std::chrono::milliseconds kLookAtWindow{50}, kPatienceForCounters{3000};
constexpr size_t kFewestBlocks = 2;
// An engine ends its session by itself after this multiple of the steps that are expected in a
// window.
constexpr double kStepsTimes = 4;
constexpr int64_t kFewestSteps = 64, kStepsIfUnknown = 20'000;

class OverheadWindows {
 public:
  OverheadWindows(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                  Recording& recording, RecordLoad& load, TokenFlow& flow,
                  const std::vector<std::optional<double>>& rates, const std::stop_token& stop)
      : client_(client),
        options_(options),
        asked_(*options.overhead),
        observer_(observer),
        recording_(recording),
        load_(load),
        flow_(flow),
        rates_(rates),
        stop_(stop),
        overhead_(recording.overhead.emplace()) {
    overhead_.asked = asked_;
  }

  void Run() {
    Plan();
    const int64_t begin = MonotonicNs();
    for (size_t block = 0; block < overhead_.blocks_planned; ++block) {
      const int64_t took_ns = MonotonicNs() - begin;
      // Ends early, because flushes may take longer than forecast.
      if (!asked_.pairs_asked && block >= kFewestBlocks &&
          took_ns + took_ns / static_cast<int64_t>(block) > kMostByDefaultNs) {
        overhead_.ended_early = fmt::format("{} blocks took {}", block, SecondsText(took_ns));
        break;
      }
      block_ = block;
      for (const bool profiled : OrderOfBlock(block)) {
        if (profiled ? TakeProfiled() : TakeWindow(false)) continue;
        Conclude(begin);
        return;
      }
    }
    Conclude(begin);
  }

 private:
  // Plans the number of blocks, and reports before the start how long they will take.
  void Plan() {
    double flush_ns = 0;
    for (size_t i = 0; i < recording_.workers.size(); ++i)
      if (const auto& figures = recording_.workers[i].figures)
        flush_ns = std::max(flush_ns, ForecastOfTime(*figures, RateOf(i), MeanWindowNs()).flush_ns);
    const int64_t block_ns = 4 * MeanWindowNs() + 2 * static_cast<int64_t>(flush_ns);
    const size_t wanted = asked_.pairs / 2;
    overhead_.blocks_planned =
        asked_.pairs_asked ? wanted
                           : std::clamp<size_t>(static_cast<size_t>(kMostByDefaultNs / block_ns),
                                                kFewestBlocks, wanted);
    const auto blocks = static_cast<int64_t>(overhead_.blocks_planned);
    observer_.OnDone(
        "overhead",
        fmt::format("{} pairs of windows of {} without and with the profilers: about {}{}",
                    2 * blocks, SecondsText(asked_.window_ns), SecondsText(blocks * block_ns),
                    overhead_.blocks_planned < wanted
                        ? fmt::format(" ({} would take longer than {}; --pairs asks for them)",
                                      2 * wanted, SecondsText(kMostByDefaultNs))
                        : ""));
  }

  int64_t MostJitterNs() const { return std::min(asked_.window_ns, kMostJitterNs); }
  int64_t MeanWindowNs() const { return kSettleNs + MostJitterNs() / 2 + asked_.window_ns; }

  std::optional<double> RateOf(size_t worker) const {
    return worker < rates_.size() ? rates_[worker] : std::nullopt;
  }

  int64_t StepBound(const RecordedWorker& worker) const {
    for (size_t i = 0; i < recording_.workers.size(); ++i) {
      const std::optional<double> rate = RateOf(i);
      if (recording_.workers[i].worker.url != worker.worker.url || rate.value_or(0) <= 0) continue;
      const double seconds = static_cast<double>(MeanWindowNs()) / 1e9;
      return std::max(kFewestSteps, static_cast<int64_t>(kStepsTimes * *rate * seconds));
    }
    return kStepsIfUnknown;
  }

  // Returns false if the load ended or the user interrupted the wait.
  bool Wait(int64_t time_ns) {
    const int64_t begin = MonotonicNs();
    while (MonotonicNs() - begin < time_ns) {
      if (load_.HasEnded()) {
        overhead_.ended_early = "the load ended";
        return false;
      }
      observer_.OnProgress("overhead",
                           fmt::format("window {} of {}{}", overhead_.windows.size() + 1,
                                       4 * overhead_.blocks_planned, load_.ProgressText()));
      if (!Pause(stop_, kLookAtWindow)) {
        overhead_.ended_early = "interrupted";
        return false;
      }
    }
    return true;
  }

  std::vector<Result<MetricsSnapshot>> Metrics() const {
    return ReadMetricsAll(client_, WorkersOf(recording_), kPatienceForCounters, stop_);
  }

  // Waits before the window begins: the profilers have just been started or stopped for it, and the
  // engine may still feel that.
  bool TakeWindow(bool profiled) {
    OverheadWindow window{.block = block_, .profiled = profiled, .calm_ns = MonotonicNs()};
    if (!Wait(kSettleNs + jitter_.Between(0, MostJitterNs()))) return false;
    const auto before = Metrics();
    window.begin_ns = MonotonicNs();
    if (!Wait(asked_.window_ns)) return false;
    window.end_ns = MonotonicNs();
    const auto after = Metrics();
    for (size_t i = 0; i < before.size(); ++i) {
      if (!before[i] || !after[i]) continue;
      for (const auto counter : {&EngineCounters::steps, &EngineCounters::passes}) {
        for (const std::optional<int64_t>& steps : StepsBetween(*before[i], *after[i], counter)) {
          if (steps.value_or(0) <= 0) continue;
          window.steps += static_cast<double>(*steps);
          window.steps_ns += static_cast<double>(after[i]->at_ns - before[i]->at_ns);
        }
      }
    }
    overhead_.windows.push_back(window);
    return true;
  }

  bool TakeProfiled() {
    Result<RunFolder> folder = RunFolder::Create(recording_.folder.path(), "overhead");
    if (!folder) {
      overhead_.ended_early = folder.error().message;
      return false;
    }
    SideSessionPlan plan{
        .name = fmt::format("overhead{}", overhead_.windows.size()),
        .workers = {},
        .steps = [this](const RecordedWorker& worker) { return StepBound(worker); },
        .most_ns = {}};
    for (size_t i = 0; i < recording_.workers.size(); ++i) plan.workers.push_back(i);
    SideSession side(client_, options_, observer_, recording_, plan, std::move(*folder));
    ProfilerSession& session = side.session();
    const bool taken = session.Start(stop_) && session.EnoughRun() && TakeWindow(true);
    if (taken && session.FilesThere()) {
      overhead_.windows.pop_back();
      overhead_.ended_early = "the engines ended their sessions by themselves in the window";
    }
    session.Stop([] {}, stop_);
    const std::vector<int64_t> since(recording_.workers.size(), MonotonicNs());
    // A worker that answers its stop at once may still be writing.
    for (const RecordedWorker& worker : side.recording().workers)
      if (!worker.folder.empty() && !worker.expectation.trouble)
        session.files().WaitFor(worker, stop_);
    SayWhatStays(side.RemoveFiles());
    for (const RecordedWorker& worker : side.recording().workers)
      if (worker.expectation.trouble && overhead_.ended_early.empty())
        overhead_.ended_early =
            fmt::format("{}: {}", worker.worker.url, worker.expectation.trouble->Words());
    return taken && overhead_.ended_early.empty() && TokensFlow(since);
  }

  // Whether tokens flow again after a flush.
  bool TokensFlow(const std::vector<int64_t>& since_ns) {
    TokenWait wait{.phase = "overhead", .since_ns = since_ns};
    for (size_t i = 0; i < since_ns.size(); ++i) wait.which.push_back(i);
    const std::vector<Finding> silent = flow_.Await(wait, recording_);
    if (!silent.empty()) overhead_.ended_early = silent.front().Text();
    return silent.empty() && Wait(1);
  }

  void SayWhatStays(const std::vector<std::string>& left) {
    if (left.empty() || std::exchange(said_what_stays_, true)) return;
    ReportFinding(recording_, observer_,
                  {FindingId::kTrialFiles, "",
                   fmt::format("files of --overhead stay in the engine's folder: {}; tacho analyze "
                               "of that folder reads them as well, until you remove them",
                               fmt::join(left, ", "))});
  }

  void Conclude(int64_t begin_ns) {
    const std::string took =
        fmt::format("{} of {} windows in {}", overhead_.windows.size(),
                    4 * overhead_.blocks_planned, SecondsText(MonotonicNs() - begin_ns));
    observer_.OnDone("overhead", took);
    if (!overhead_.ended_early.empty() && !stop_.stop_requested())
      ReportFinding(
          recording_, observer_,
          {FindingId::kOverheadCutShort, "", fmt::format("{}: {}", took, overhead_.ended_early)});
  }

  HttpClient& client_;
  const RecordOptions& options_;
  const OverheadOptions& asked_;
  RecordObserver& observer_;
  Recording& recording_;
  RecordLoad& load_;
  TokenFlow& flow_;
  const std::vector<std::optional<double>>& rates_;
  const std::stop_token stop_;
  Overhead& overhead_;
  size_t block_ = 0;
  Random jitter_{0};
  bool said_what_stays_ = false;
};

}  // namespace

std::string WhyNoOverhead(const std::vector<RecordedWorker>& workers) {
  for (const RecordedWorker& worker : workers) {
    const ProfilerFacts& profiler = worker.facts.profiler;
    if (worker.profile.IsOn("profile_by_stage"))
      return worker.worker.url +
             ": by stage its sessions begin and end with the stages, and not "
             "with a window";
    if (profiler.wait_iterations.value_or(0) + profiler.warmup_iterations.value_or(0) > 0)
      return worker.worker.url +
             ": torch's schedule records one session only, and --overhead needs "
             "one for each window";
    if (profiler.kind.value_or("torch") != "torch")
      return fmt::format("{}: its profiler is {}, and --overhead measures torch's",
                         worker.worker.url, *profiler.kind);
  }
  return "";
}

void RunOverheadWindows(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                        Recording& recording, RecordLoad& load, TokenFlow& flow,
                        const std::vector<std::optional<double>>& rates,
                        const std::stop_token& stop) {
  OverheadWindows(client, options, observer, recording, load, flow, rates, stop).Run();
}

}  // namespace tacho
