#include "cli/load/load_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock_pair.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/load/load_foreign.h"
#include "cli/load/load_job_of_flags.h"
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

Result<LoadRecords> SendPlan(const LoadScene& scene, const LoadPlan& plan,
                             const std::string& title) {
  DriveProgress progress;
  LoadGoal goal{.requests = plan.options.requests, .seconds = {}};
  if (plan.options.replay_speed) goal.requests = plan.requests.size();
  if (const auto ns = plan.options.duration_ns) goal.seconds = static_cast<double>(*ns) / 1e9;
  const LoadProgress lines(progress, title, goal, scene.progress);
  return Drive(*scene.client, plan, scene.load.targets, progress, scene.stop, scene.load.job.drive);
}

Result<void> WarmUp(const LoadScene& scene) {
  if (scene.load.job.warmups == 0) return {};
  TACHO_ASSIGN_OR_RETURN(const auto plan, PlanOf(scene.load, WarmUpOf(scene.load.job)));
  TACHO_RETURN_IF_ERROR(SendPlan(scene, plan, "warm-up"));
  return {};
}

std::string DateOfNow() { return DateStamp(ReadClocks().unix_ns); }

// The exit status of a load.
int StatusOfLoad(const LoadScene& scene, const LoadSummary& summary) {
  if (scene.stop.stop_requested()) return kInterrupted;
  const LoadFigures& whole = summary.whole;
  if (whole.failed + whole.partial == 0) return kDone;
  return whole.done == 0 ? kRemoteFailed : kIncomplete;
}

Result<FinishedLoad> Perform(const LoadScene& scene, const PlanOptions& options,
                             const std::string& title) {
  TACHO_ASSIGN_OR_RETURN(auto plan, PlanOf(scene.load, options));
  std::string date = DateOfNow();
  TACHO_ASSIGN_OR_RETURN(auto records, SendPlan(scene, plan, title));
  return FinishLoad(scene.load, std::move(plan), std::move(date), std::move(records));
}

// Prints the load's results, with `more` after the table, and writes the result files. Returns the
// exit status.
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
  const auto load = Perform(scene, scene.load.job.plan, "load");
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

// Records as `tacho record` does, with this load in place of the one that `tacho record` sends.
Result<int> RunProfiled(const LoadScene& scene) {
  RecordOptions options;
  TACHO_RETURN_IF_ERROR(scene.flags.session.PutInto(options));
  options.targets = scene.load.job.urls;
  options.via = Via::kHttp;
  options.whole_load = scene.flags.whole_load;
  options.patience = scene.load.job.flush_timeout;
  options.command = scene.flags.command;
  TACHO_ASSIGN_OR_RETURN(auto plan, PlanOf(scene.load, scene.load.job.plan));
  options.given_load = GivenLoad{std::move(plan), scene.load.targets, scene.load.job.drive};

  Narrator narrator(scene.progress.live_columns, scene.flags.no_progress);
  std::string date = DateOfNow();
  TACHO_ASSIGN_OR_RETURN(auto recording, Record(*scene.client, options, narrator, scene.stop));
  const ProvenRecording proven = ProveRecording(recording, options, narrator);
  // After a fixed number of steps the engine begins to write before the window's end.
  if (recording.load && recording.window.steps && recording.profiled.end_ns > 0)
    recording.load->MarkFlush(recording.profiled.end_ns, recording.flushed_ns);
  const std::string screen = "\n" + RecordScreen(recording, proven, scene.style);
  int status = kDone;
  if (recording.load) {
    FinishedLoad load = FinishLoad(scene.load, std::move(*recording.plan), std::move(date),
                                   std::move(*recording.load));
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
  PlanOptions options = scene.load.job.plan;
  if (scene.load.job.sweep.of == SweepOf::kConcurrency) {
    options.concurrency = static_cast<uint64_t>(level);
  } else {
    options.rate = level;
    if (!scene.flags.concurrency) options.concurrency = 0;
  }
  return options;
}

Result<int> RunSweep(const LoadScene& scene) {
  const LoadJob& job = scene.load.job;
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
  TACHO_ASSIGN_OR_RETURN(LoadJob job, LoadJobOf(scene.flags));
  TACHO_ASSIGN_OR_RETURN(const auto color, ParseColor(scene.flags.color));
  scene.style = StyleFor(SurroundingsOf(STDOUT_FILENO), color);
  scene.progress = {.shown = !scene.flags.no_progress,
                    .live_columns = LiveColumns(SurroundingsOf(STDERR_FILENO)),
                    .unicode = scene.style.unicode};

  TACHO_ASSIGN_OR_RETURN(scene.client, HttpClient::Create(job.http));
  for (const std::string& url : job.urls) scene.client->NameServer(*ParseUrl(url));

  const InterruptScope interrupt("ending the load; what was measured is reported");
  scene.stop = interrupt.token();
  TACHO_ASSIGN_OR_RETURN(
      scene.load, PrepareLoad(
                      std::move(job), *scene.client,
                      [](const std::string& text) { Complain(VisibleText(text)); }, scene.stop));
  TACHO_RETURN_IF_ERROR(CheckResultFiles(scene.flags));
  TACHO_RETURN_IF_ERROR(WarmUp(scene));
  if (scene.flags.profile) return RunProfiled(scene);
  return scene.load.job.sweep.of == SweepOf::kNone ? RunOnce(scene) : RunSweep(scene);
}

}  // namespace tacho
