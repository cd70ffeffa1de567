#include "cli/load_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/load_flags.h"
#include "cli/load_job.h"
#include "cli/load_progress.h"
#include "cli/load_report.h"
#include "cli/load_result_files.h"
#include "cli/load_sweep.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "load/served_model.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr size_t kMostDataset = size_t{4} << 30;
constexpr uint64_t kWarmupSeed = 0x7761726d;
constexpr uint64_t kWarmupsAtOnce = 8;

// Everything that one call of the command works with.
struct LoadScene {
  LoadFlags flags;
  LoadJob job;
  std::unique_ptr<HttpClient> client;
  std::stop_token stop;
  std::vector<DriveTarget> targets;
  Dataset dataset;
  TextStyle style;
  bool show_progress = false;
};

Result<ServedModel> WaitForModel(LoadScene& scene) {
  const auto until = std::chrono::steady_clock::now() + scene.job.ready_timeout;
  while (true) {
    auto served = AskModel(*scene.client, scene.job.urls[0], kPatience, scene.stop);
    if (served || scene.stop.stop_requested() || std::chrono::steady_clock::now() >= until) {
      return served;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

// Asks the first server for what the flags leave open.
Result<void> CompleteTarget(LoadScene& scene) {
  LoadJob& job = scene.job;
  DriveTarget& target = job.target;
  const auto served = WaitForModel(scene);
  if (!served && (target.model.empty() || scene.stop.stop_requested())) {
    return tl::unexpected<Error>(served.error());
  }
  if (target.model.empty()) target.model = served->name;
  if (served && !job.plan.most_total_tokens) job.plan.most_total_tokens = served->max_model_len;
  job.identity.model_id = scene.flags.model.empty() ? target.model : scene.flags.model;
  const bool makes_prompts = !job.dataset_path || scene.dataset.rows.front().text.empty();
  if (makes_prompts && target.api != "chat") {
    target.token_ids = AskTokenIds(*scene.client, job.urls[0], target.model, kPatience, scene.stop);
    if (target.token_ids.empty()) {
      job.remarks.emplace_back(
          "the server has no tokenizer route: prompts are words, about as many as tokens were "
          "planned");
    }
  }
  for (const std::string& url : job.urls) {
    scene.targets.push_back(target);
    scene.targets.back().url = url;
  }
  return {};
}

// Before anyone is asked for anything: a mistake in it is told at once.
Result<void> ReadDatasetFile(LoadScene& scene) {
  LoadJob& job = scene.job;
  if (!job.dataset_path) return {};
  const auto bytes = ReadInput(*job.dataset_path, kMostDataset);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  auto dataset = ReadDataset(*bytes, job.dataset);
  if (!dataset) return tl::unexpected<Error>(dataset.error().WithContext(*job.dataset_path));
  scene.dataset = std::move(*dataset);
  for (const BrokenLine& line : scene.dataset.first_broken) {
    Complain(
        fmt::format("{}:{}: {}", VisibleText(*job.dataset_path), line.line, VisibleText(line.why)));
  }
  if (scene.dataset.broken > 0) {
    job.remarks.push_back(
        fmt::format("{} broken lines of the dataset were left out", scene.dataset.broken));
  }
  if (scene.dataset.unfit > 0) {
    job.remarks.push_back(
        fmt::format("{} lines of the dataset without a prompt or without tokens were left out",
                    scene.dataset.unfit));
  }
  if (scene.dataset.kind == DatasetKind::kMessages && job.target.api != "chat") {
    return Fail(ErrorKind::kUsage, *job.dataset_path + " holds messages: they need --api chat");
  }
  return {};
}

// The lengths of a ShareGPT's answers are known by counting alone.
Result<void> CountDataset(LoadScene& scene) {
  LoadJob& job = scene.job;
  if (scene.dataset.kind != DatasetKind::kShareGpt) return {};
  if (job.plan.shuffle) ShuffleRows(scene.dataset, job.plan.seed);
  job.plan.shuffle = false;
  const size_t needed = job.plan.requests.value_or(scene.dataset.rows.size());
  if (!CountTokens(*scene.client, job.urls[0], job.target.model, needed, kPatience, scene.dataset,
                   scene.stop)) {
    job.remarks.emplace_back(
        "the server has no tokenizer route: lengths are guessed, 4 bytes a token");
  }
  if (!scene.dataset.rows.empty()) return {};
  return Fail(ErrorKind::kUnreadable,
              *job.dataset_path +
                  ": no conversation within vLLM's bounds (4 to 1024 tokens in, at "
                  "most 2048 in all)");
}

Result<LoadPlan> PlanOf(const LoadScene& scene, const PlanOptions& options) {
  return scene.dataset.rows.empty() ? MakePlan(options) : MakePlan(options, scene.dataset);
}

Result<LoadRecords> SendPlan(const LoadScene& scene, const LoadPlan& plan,
                             const std::string& title) {
  DriveProgress progress;
  LoadGoal goal{.requests = plan.options.requests, .seconds = {}};
  if (plan.options.replay_speed) goal.requests = plan.requests.size();
  if (const auto ns = plan.options.duration_ns) goal.seconds = static_cast<double>(*ns) / 1e9;
  const LoadProgressLine line(progress, title, goal, scene.show_progress);
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
  const auto plan = PlanOf(scene, options);
  if (!plan) return tl::unexpected<Error>(plan.error());
  const auto records = SendPlan(scene, *plan, "warm-up");
  if (!records) return tl::unexpected<Error>(records.error());
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

// What the load came to, as the shell sees it.
int StatusOfLoad(const LoadScene& scene, const LoadSummary& summary) {
  if (scene.stop.stop_requested()) return kInterrupted;
  const LoadFigures& whole = summary.whole;
  if (whole.done == 0 && whole.sent > 0) return kRemoteFailed;
  return whole.failed + whole.partial > 0 ? kIncomplete : kDone;
}

Result<FinishedLoad> Perform(const LoadScene& scene, const PlanOptions& options,
                             const std::string& title) {
  auto plan = PlanOf(scene, options);
  if (!plan) return tl::unexpected<Error>(plan.error());
  FinishedLoad load;
  load.plan = std::move(*plan);
  load.identity = scene.job.identity;
  load.identity.date = DateOfNow();
  load.identity.request_rate = options.rate;
  if (options.concurrency > 0) load.identity.max_concurrency = options.concurrency;
  auto records = SendPlan(scene, load.plan, title);
  if (!records) return tl::unexpected<Error>(records.error());
  load.records = std::move(*records);
  load.urls = scene.job.urls;
  load.identity.num_prompts = load.records.requests.size();
  load.metrics = scene.job.metrics;
  load.slos = scene.job.slos;
  load.remarks = scene.job.remarks;
  load.summary = Summarise(load.records, SummaryOptionsOf(scene.job, options.concurrency));
  return load;
}

int RunOnce(const LoadScene& scene) {
  const auto load = Perform(scene, scene.job.plan, "load");
  if (!load) return Fails(load.error());
  const auto written = WriteStdout(scene.flags.json ? LoadJson(*load, TachoVersion())
                                                    : LoadText(*load, scene.style));
  if (!written) return Fails(written.error());
  if (const auto saved = WriteResultFiles(scene.flags, *load); !saved) return Fails(saved.error());
  if (scene.flags.json) {
    for (const std::string& remark : load->remarks) Complain(VisibleText(remark));
  }
  return StatusOfLoad(scene, load->summary);
}

PlanOptions OptionsOf(const LoadScene& scene, double level) {
  PlanOptions options = scene.job.plan;
  if (scene.job.sweep == SweepOf::kConcurrency) {
    options.concurrency = static_cast<uint64_t>(level);
  } else {
    options.rate = level;
    if (!scene.flags.concurrency) options.concurrency = 0;
  }
  return options;
}

int RunSweep(const LoadScene& scene) {
  const LoadJob& job = scene.job;
  const char* const what = job.sweep == SweepOf::kRate ? "rate" : "at once";
  std::vector<SweepLevel> levels;
  bool failed = false;
  for (const double at : job.levels) {
    auto load = Perform(scene, OptionsOf(scene, at), fmt::format("{} {:g}", what, at));
    if (!load) return Fails(load.error());
    if (const auto saved = WriteResultFiles(scene.flags, *load); !saved) {
      return Fails(saved.error());
    }
    SweepLevel& level = levels.emplace_back();
    level.level = at;
    level.summary = std::move(load->summary);
    level.ended_early = load->records.ended_early;
    const LoadFigures& whole = level.summary.whole;
    const uint64_t counted = whole.sent - whole.cancelled;
    level.attained = counted == 0 ? 0
                                  : static_cast<double>(whole.good.value_or(whole.done)) /
                                        static_cast<double>(counted);
    level.keeps_slos = job.slos.empty() || level.attained >= job.attain;
    failed |= whole.failed + whole.partial > 0;
    if (scene.stop.stop_requested() || whole.done == 0) break;
    if (!level.keeps_slos) break;
  }
  for (const std::string& remark : job.remarks) Complain(VisibleText(remark));
  const auto written = WriteStdout(scene.flags.json ? SweepJson(job, levels, TachoVersion())
                                                    : SweepText(job, levels, scene.style));
  if (!written) return Fails(written.error());
  if (scene.stop.stop_requested()) return kInterrupted;
  if (levels.front().summary.whole.done == 0) return kRemoteFailed;
  return failed ? kIncomplete : kDone;
}

}  // namespace

int RunLoad(const std::vector<std::string>& arguments) {
  LoadScene scene;
  const auto parsed = ParseArguments(LoadSpec(scene.flags), arguments);
  if (!parsed) return Fails(parsed.error());
  if (*parsed) {
    const auto written = WriteStdout(LoadHelp());
    return written ? kDone : Fails(written.error());
  }
  auto job = LoadJobOf(scene.flags);
  if (!job) return Fails(job.error());
  scene.job = std::move(*job);
  const auto color = ParseColor(scene.flags.color);
  if (!color) return Fails(color.error());
  scene.style = StyleFor(SurroundingsOf(STDOUT_FILENO), *color);
  const Surroundings errors = SurroundingsOf(STDERR_FILENO);
  scene.show_progress = errors.is_tty && errors.term != "dumb" && !scene.flags.no_progress;

  HttpClientOptions http;
  http.verify_tls = !scene.flags.insecure;
  http.ca_file = scene.flags.ca_file;
  http.bearer_key = scene.job.target.bearer_key;
  auto client = HttpClient::Create(http);
  if (!client) return Fails(client.error());
  scene.client = std::move(*client);

  const InterruptScope interrupt;
  scene.stop = interrupt.token();
  if (const auto read = ReadDatasetFile(scene); !read) return Fails(read.error());
  if (const auto complete = CompleteTarget(scene); !complete) return Fails(complete.error());
  if (const auto counted = CountDataset(scene); !counted) return Fails(counted.error());
  if (const auto warm = WarmUp(scene); !warm) return Fails(warm.error());
  return scene.job.sweep == SweepOf::kNone ? RunOnce(scene) : RunSweep(scene);
}

}  // namespace tacho
