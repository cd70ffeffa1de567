#include "cli/load/load_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/load/load_foreign.h"
#include "cli/load/load_result_files.h"
#include "cli/load/load_scene.h"
#include "cli/record/record_report.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/terminal.h"
#include "load/result/load_report.h"
#include "load/result/sweep.h"
#include "net/url.h"
#include "session/record.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr uint64_t kWarmupSeed = 0x7761726d;
constexpr uint64_t kWarmupsAtOnce = 8;

Result<LoadPlan> PlanOf(const LoadScene& scene, const PlanOptions& options) {
  return scene.dataset.rows.empty() ? MakePlan(options) : MakePlan(options, scene.dataset);
}

Result<LoadRecords> SendPlan(const LoadScene& scene, const LoadPlan& plan,
                             const std::string& title) {
  DriveProgress progress;
  LoadGoal goal{.requests = plan.options.requests, .seconds = {}};
  if (plan.options.replay_speed) goal.requests = plan.requests.size();
  if (const auto ns = plan.options.duration_ns) goal.seconds = static_cast<double>(*ns) / 1e9;
  const LoadProgress lines(progress, title, goal, scene.progress);
  return Drive(*scene.client, plan, scene.targets, progress, scene.stop, scene.job.drive);
}

Result<void> WarmUp(const LoadScene& scene) {
  if (scene.job.warmups == 0) return {};
  PlanOptions options = scene.job.plan;
  options.requests = scene.job.warmups;
  options.duration_ns.reset();
  options.rate.reset();
  options.ramp.reset();
  options.replay_speed.reset();
  options.seed ^= kWarmupSeed;
  if (options.concurrency == 0) options.concurrency = kWarmupsAtOnce;
  TACHO_ASSIGN_OR_RETURN(const auto plan, PlanOf(scene, options));
  TACHO_RETURN_IF_ERROR(SendPlan(scene, plan, "warm-up"));
  return {};
}

SummaryOptions SummaryOptionsOf(const LoadJob& job, uint64_t most_at_once) {
  SummaryOptions options;
  for (const double percent : job.metrics.percents) {
    if (std::find(options.percents.begin(), options.percents.end(), percent) ==
        options.percents.end()) {
      options.percents.push_back(percent);
    }
  }
  options.slos = job.slos;
  options.most_at_once = most_at_once;
  return options;
}

std::string DateOfNow() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[64];
  std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local);
  return text;
}

// The exit status of a load.
int StatusOfLoad(const LoadScene& scene, const LoadSummary& summary) {
  if (scene.stop.stop_requested()) return kInterrupted;
  const LoadFigures& whole = summary.whole;
  if (whole.failed + whole.partial == 0) return kDone;
  return whole.done == 0 ? kRemoteFailed : kIncomplete;
}

FinishedLoad Finished(const LoadScene& scene, LoadPlan plan, std::string date,
                      LoadRecords records) {
  FinishedLoad load;
  load.plan = std::move(plan);
  const PlanOptions& options = load.plan.options;
  load.identity = scene.job.identity;
  load.identity.date = std::move(date);
  load.identity.request_rate = options.rate;
  if (options.concurrency > 0) load.identity.max_concurrency = options.concurrency;
  load.records = std::move(records);
  load.urls = scene.job.urls;
  load.identity.num_prompts = load.records.requests.size();
  load.metrics = scene.job.metrics;
  load.slos = scene.job.slos;
  load.remarks = scene.job.remarks;
  load.summary = Summarise(load.records, SummaryOptionsOf(scene.job, options.concurrency));
  return load;
}

Result<FinishedLoad> Perform(const LoadScene& scene, const PlanOptions& options,
                             const std::string& title) {
  TACHO_ASSIGN_OR_RETURN(auto plan, PlanOf(scene, options));
  std::string date = DateOfNow();
  TACHO_ASSIGN_OR_RETURN(auto records, SendPlan(scene, plan, title));
  return Finished(scene, std::move(plan), std::move(date), std::move(records));
}

// Prints the load, with `more` after its table, and writes its files. Returns the exit status.
int Tell(const LoadScene& scene, const FinishedLoad& load, const std::string& more = {}) {
  const auto written = WriteStdout(scene.flags.json ? LoadJson(load, TachoVersion())
                                                    : LoadText(load, scene.style) + more);
  // If the terminal is gone, the files are still written.
  const auto saved = WriteResultFiles(scene.flags, load);
  if (!written) return Fails(written.error());
  if (!saved) return Fails(saved.error());
  if (scene.flags.json) {
    for (const std::string& remark : load.remarks) Complain(VisibleText(remark));
  }
  return StatusOfLoad(scene, load.summary);
}

Result<int> RunOnce(const LoadScene& scene) {
  const auto load = Perform(scene, scene.job.plan, "load");
  return load.map([&](const FinishedLoad& finished) { return Tell(scene, finished); });
}

// What is printed instead of the load's JSON if a recording ended before its load began.
std::string WithoutLoad(const ProvenRecording& proven) {
  const ErrorKind kind =
      proven.status == kInterrupted ? ErrorKind::kInterrupted : ErrorKind::kRemote;
  const std::vector<Finding> missing = proven.proof.Missing();
  const std::string why = missing.empty() ? "" : ": " + missing.front().Text();
  return ErrorJson({kind, "the recording ended before its load began" + why}, proven.status);
}

// `tacho record` with this load instead of its own.
Result<int> RunProfiled(const LoadScene& scene) {
  RecordOptions options;
  TACHO_RETURN_IF_ERROR(scene.flags.session.PutInto(options));
  options.targets = scene.job.urls;
  options.via = Via::kHttp;
  options.whole_load = scene.flags.whole_load;
  options.patience = scene.job.flush_timeout;
  options.command = scene.flags.command;
  TACHO_ASSIGN_OR_RETURN(auto plan, PlanOf(scene, scene.job.plan));
  options.given_load = GivenLoad{std::move(plan), scene.targets, scene.job.drive};

  Narrator narrator(scene.progress.live_columns, scene.flags.no_progress);
  std::string date = DateOfNow();
  TACHO_ASSIGN_OR_RETURN(auto recording, Record(*scene.client, options, narrator, scene.stop));
  const ProvenRecording proven = ProveRecording(recording, options, narrator);
  // An engine that counts its steps began to write before the window's end.
  if (recording.load && recording.window.steps && recording.profiled.end_ns > 0)
    recording.load->MarkFlush(recording.profiled.end_ns, recording.flushed_ns);
  const std::string screen = "\n" + RecordScreen(recording, proven, scene.style);
  int status = kDone;
  if (recording.load) {
    FinishedLoad load =
        Finished(scene, std::move(*recording.plan), std::move(date), std::move(*recording.load));
    load.run = ProfiledRun{recording.folder.path(), proven.proof.complete, proven.status};
    status = Tell(scene, load, screen);
  } else if (const auto written = WriteStdout(scene.flags.json ? WithoutLoad(proven) : screen);
             !written) {
    return Fails(written.error());
  }
  ComplainOf(recording);
  return proven.status == kDone ? status : proven.status;
}

PlanOptions OptionsOf(const LoadScene& scene, double level) {
  PlanOptions options = scene.job.plan;
  if (scene.job.sweep.of == SweepOf::kConcurrency) {
    options.concurrency = static_cast<uint64_t>(level);
  } else {
    options.rate = level;
    if (!scene.flags.concurrency) options.concurrency = 0;
  }
  return options;
}

Result<int> RunSweep(const LoadScene& scene) {
  const LoadJob& job = scene.job;
  const char* const what = job.sweep.of == SweepOf::kRate ? "rate" : "at once";
  std::vector<SweepLevel> levels;
  Result<void> saved;
  for (const double at : job.sweep.levels) {
    TACHO_ASSIGN_OR_RETURN(auto load,
                           Perform(scene, OptionsOf(scene, at), fmt::format("{} {:g}", what, at)));
    saved = WriteResultFiles(scene.flags, load);
    SweepLevel& level = levels.emplace_back();
    level.level = at;
    level.summary = std::move(load.summary);
    level.ended_early = load.records.ended_early;
    level.broken_off = load.records.broken_off;
    const LoadFigures& whole = level.summary.whole;
    const uint64_t counted = whole.sent - whole.cancelled;
    if (whole.good && counted > 0)
      level.attained = static_cast<double>(*whole.good) / static_cast<double>(counted);
    level.keeps_slos = !level.attained || *level.attained >= job.sweep.attain;
    if (scene.progress.shown && !scene.progress.live_columns)
      DrawOnStderr(SweepLine(job.sweep.of, level) + "\n");
    if (scene.stop.stop_requested() || !saved || !level.keeps_slos) break;
    if (StatusOfLoad(scene, level.summary) == kRemoteFailed) break;
  }
  for (const std::string& remark : job.remarks) Complain(VisibleText(remark));
  const auto written =
      WriteStdout(scene.flags.json ? SweepJson(job.sweep, levels, TachoVersion())
                                   : SweepText(job.sweep, !job.slos.empty(), levels, scene.style));
  if (!written) return Fails(written.error());
  if (!saved) return Fails(saved.error());
  const int first = StatusOfLoad(scene, levels.front().summary);
  if (first == kInterrupted || first == kRemoteFailed) return first;
  return std::any_of(
             levels.begin(), levels.end(),
             [&](const SweepLevel& level) { return StatusOfLoad(scene, level.summary) != kDone; })
             ? kIncomplete
             : kDone;
}

}  // namespace

Result<int> RunLoad(const std::vector<std::string>& arguments) {
  LoadScene scene;
  TACHO_ASSIGN_OR_RETURN(const auto parsed, ParseLoadFlags(arguments, scene.flags));
  if (parsed) {
    const auto written = WriteStdout(HelpText(LoadSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  TACHO_ASSIGN_OR_RETURN(scene.job, LoadJobOf(scene.flags));
  TACHO_ASSIGN_OR_RETURN(const auto color, ParseColor(scene.flags.color));
  scene.style = StyleFor(SurroundingsOf(STDOUT_FILENO), color);
  scene.progress = {.shown = !scene.flags.no_progress,
                    .live_columns = LiveColumns(SurroundingsOf(STDERR_FILENO)),
                    .unicode = scene.style.unicode};

  TACHO_ASSIGN_OR_RETURN(scene.client, HttpClient::Create(scene.job.http));
  for (const std::string& url : scene.job.urls) scene.client->NameServer(*ParseUrl(url));

  const InterruptScope interrupt("ending the load; what was measured is reported");
  scene.stop = interrupt.token();
  TACHO_RETURN_IF_ERROR(PrepareScene(scene));
  TACHO_RETURN_IF_ERROR(CheckResultFiles(scene.flags));
  TACHO_RETURN_IF_ERROR(WarmUp(scene));
  if (scene.flags.profile) return RunProfiled(scene);
  return scene.job.sweep.of == SweepOf::kNone ? RunOnce(scene) : RunSweep(scene);
}

}  // namespace tacho
