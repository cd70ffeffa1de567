#include "session/http/profiler_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/disk_room.h"
#include "base/monotonic_clock.h"
#include "base/pause.h"
#include "control/launch/profile_needs.h"
#include "control/live/liveness.h"
#include "control/version.h"
#include "session/files/fetch_files.h"
#include "session/files/trace_count.h"
#include "session/files/trace_folder.h"
#include "session/http/side_session.h"
#include "session/http/step_count.h"

namespace tacho {
namespace {

// A real vLLM on a CPU flushes this many steps in 0.8 s. Fewer steps would not show what a step
// costs.
constexpr int64_t kTrialSteps = 16;
constexpr int64_t kTrialStepsWithStacks = 2;
constexpr int64_t kMostTrialNs = 2'000'000'000;
constexpr int64_t kMostSlowTrialNs = 10'000'000'000;  // if workers count steps and take them slowly
// The recording time of workers that do not count steps, each from its own start.
constexpr int64_t kTrialNs = 200'000'000;
constexpr std::chrono::milliseconds kLookAtTrial{50};
constexpr std::chrono::milliseconds kPatienceForMetrics{3000};
constexpr char kInTrial[] = ", in the trial before the window";

bool MayHaveStacks(const RecordedWorker& worker) {
  const EngineFacts& facts = worker.facts;
  return StacksOf(facts, worker.profile)
      .value_or(EngineRule(facts.kind, facts.version, "stacks") == "yes");
}

class Trial {
 public:
  Trial(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
        const Recording& recording, TokenFlow& flow, const std::vector<size_t>& which,
        TrialSize size, RunFolder folder)
      : client_(client),
        options_(options),
        observer_(observer),
        flow_(flow),
        part_(size == TrialSize::kWhole ? 1 : 4),
        side_(client, options, observer, recording,
              {.name = "trial",
               .workers = which,
               .steps = [this](const RecordedWorker& worker) { return StepsOf(worker); },
               .most_ns = kTrialNs / part_},
              std::move(folder)) {}

  std::vector<TrialOutcome> Run(std::stop_token stop) {
    ProfilerSession& session = side_.session();
    if (session.Start(stop)) Wait(session, stop);
    session.Stop([] {}, stop);
    std::vector<TrialOutcome> outcomes;
    for (RecordedWorker& worker : side_.recording().workers)
      outcomes.push_back(OutcomeOf(session, worker));
    if (!outcomes.empty()) outcomes.front().left_files = side_.RemoveFiles();
    NameTheFailed(outcomes);
    return outcomes;
  }

 private:
  static uint64_t WorkOf(const std::vector<TraceCount>& counts) {
    uint64_t steps = 0;
    for (const TraceCount& count : counts) steps += count.steps - count.empty_steps;
    return steps;
  }

  int64_t StepsOf(const RecordedWorker& worker) const {
    return std::max<int64_t>(1,
                             (MayHaveStacks(worker) ? kTrialStepsWithStacks : kTrialSteps) / part_);
  }

  void Wait(const ProfilerSession& session, const std::stop_token& stop) {
    std::vector<Worker> counting;
    for (const RecordedWorker& worker : side_.recording().workers)
      if (worker.facts.profiler.reads_body) counting.push_back(worker.worker);
    StepCount steps(client_, counting, kPatienceForMetrics,
                    std::max<int64_t>(1, *side_.recording().window.steps - 1), stop);
    const auto latest = [&] { return session.LatestStopNs().value_or(INT64_MAX); };
    AwaitTokens([&] { return session.FilesThere() || MonotonicNs() >= latest(); });
    const int64_t begin = MonotonicNs();
    int64_t most_ns = counting.empty() ? 0 : kMostTrialNs;
    while (MonotonicNs() < std::max(begin + most_ns, session.LatestStopNs().value_or(0))) {
      if (!counting.empty() && (session.FilesThere() || steps.Taken())) break;
      // Allows more time, because an engine whose cores are busy may take a second for a step.
      if (steps.Fewest() && !MayAnyHaveStacks()) most_ns = kMostSlowTrialNs;
      observer_.OnProgress("trial", "a few steps");
      if (!Pause(stop, kLookAtTrial)) break;
    }
  }

  // Waits for tokens from workers whose profilers run. With Python stacks the wait must be short,
  // because even an idle engine then writes much.
  void AwaitTokens(const std::function<bool()>& done) {
    TokenWait wait{.phase = "trial", .done = done};
    if (MayAnyHaveStacks()) wait.most_ns = kMostTrialNs;
    for (size_t i : side_.session().running()) {
      const std::optional<ControlOutcome>& started = side_.recording().workers[i].started;
      if (!started || !started->IsGood()) continue;
      wait.which.push_back(i);
      wait.since_ns.push_back(started->answered_ns);
    }
    flow_.Await(wait, side_.recording());
  }

  bool MayAnyHaveStacks() { return std::ranges::any_of(side_.recording().workers, &MayHaveStacks); }

  TrialOutcome OutcomeOf(ProfilerSession& session, RecordedWorker& worker) {
    TrialOutcome outcome;
    if (worker.started && worker.started->IsGood())
      outcome.start_ns = worker.started->answered_ns - worker.started->sent_ns;
    // A worker that ended its session by itself gets no stop, and may still be writing.
    if (!worker.stopped && !worker.folder.empty()) session.files().WaitFor(worker, {});
    // The files are read where they are: nobody but this trial needs them.
    std::vector<std::string> files = session.files().TracesOf(worker);
    if (worker.remote) {
      Result<std::vector<std::string>> fetched = FetchFiles(
          *worker.remote, FileKeyOf(worker), worker.expectation.start_unix_ns,
          side_.recording().folder.In(worker.key), options_.patience, {}, [](uint64_t) {});
      if (fetched) files = std::move(*fetched);
    }
    std::vector<TraceCount> counts;
    for (const std::string& file : files)
      if (Result<TraceCount> count = CountTrace(file)) counts.push_back(*count);
    outcome.figures = FiguresOf(counts, session.files().WrittenUnixNs(worker));
    // A trace in which the engine did no work shows nothing.
    if (worker.expectation.steps_named && outcome.figures && WorkOf(counts) == 0) {
      outcome.figures.reset();
      outcome.saw_no_step = true;
    }
    if (outcome.figures) {
      outcome.figures->table_ns = session.files().TableNs(worker);
    } else if (worker.expectation.trouble) {
      outcome.met = worker.expectation.trouble->Words();
    } else if (!files.empty() && std::none_of(files.begin(), files.end(), LooksWhole)) {
      outcome.met = "its trace was not finished";
      if (const auto room = FreeBytes(worker.folder); room && !worker.folder.empty())
        outcome.met += fmt::format(" (free there: {})", SizeText(static_cast<double>(*room)));
    }
    return outcome;
  }

  void NameTheFailed(std::vector<TrialOutcome>& outcomes) {
    std::vector<Worker> workers;
    std::vector<EngineFacts> facts;
    std::vector<size_t> which;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (!side_.recording().workers[i].expectation.trouble) continue;
      which.push_back(i);
      workers.push_back(side_.recording().workers[i].worker);
      facts.push_back(side_.recording().workers[i].facts);
    }
    if (which.empty()) return;
    const std::vector<std::string> dead = WhyDead(client_, workers, facts, kPatienceForLife);
    for (size_t n = 0; n < which.size(); ++n) {
      const RecordedWorker& worker = side_.recording().workers[which[n]];
      const bool started = worker.started && worker.started->IsGood();
      if (started && dead[n].empty()) continue;
      // Makes the text read "did not start, in the trial before the window: no answer within 20 s".
      Finding failed = *worker.expectation.trouble;
      std::string& brief = failed.brief.empty() ? failed.evidence : failed.brief;
      failed.evidence.insert(failed.evidence.find(brief) + brief.size(), kInTrial);
      if (&brief == &failed.brief) brief += kInTrial;
      outcomes[which[n]].failed = std::move(failed);
    }
  }

  HttpClient& client_;
  const RecordOptions& options_;
  RecordObserver& observer_;
  TokenFlow& flow_;
  // The trial takes this fraction (1 / part_) of the steps and the time of a whole trial.
  const int64_t part_;
  SideSession side_;
};

}  // namespace

bool MayTry(const RecordedWorker& worker, const RecordOptions& options) {
  const ProfilerFacts& profiler = worker.facts.profiler;
  const bool scheduled =
      profiler.wait_iterations.value_or(0) + profiler.warmup_iterations.value_or(0) > 0;
  const bool torch = profiler.kind.value_or("torch") == "torch";
  return torch && !scheduled && worker.stays_in.empty() &&
         !worker.profile.IsOn("profile_by_stage") &&
         (options.load ||
          (!MayHaveStacks(worker) &&
           EngineRule(worker.facts.kind, worker.facts.version, "waits_for_step") != "yes")) &&
         // A window of few steps would be no larger than a trial.
         options.profile.steps.value_or(INT64_MAX) > 2 * kTrialSteps;
}

std::vector<TrialOutcome> RunTrial(HttpClient& client, const RecordOptions& options,
                                   RecordObserver& observer, const Recording& recording,
                                   TokenFlow& flow, const std::vector<size_t>& which,
                                   TrialSize size, std::stop_token stop) {
  Result<RunFolder> folder = RunFolder::Create(recording.folder.path(), "trial");
  if (!folder || which.empty()) return std::vector<TrialOutcome>(which.size());
  return Trial(client, options, observer, recording, flow, which, size, std::move(*folder))
      .Run(std::move(stop));
}

}  // namespace tacho
