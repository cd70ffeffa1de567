#include "session/load/prepared_load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "control/live/token_ids.h"
#include "io/read_whole.h"
#include "load/drive/served_model.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kBetweenAttempts{500};
constexpr size_t kMostDataset = size_t{4} << 30;
// Rows to count tokens of, if the number of requests is not given.
constexpr size_t kMostCounted = 10'000;
constexpr uint64_t kWarmupSeed = 0x7761726d;
constexpr uint64_t kWarmupsAtOnce = 8;

// Fills in what the job leaves open.
class Preparation {
 public:
  Preparation(PreparedLoad& load, HttpClient& client, const LoadWarning& warn, std::stop_token stop,
              Clock& clock)
      : load_(load), client_(client), warn_(warn), stop_(std::move(stop)), clock_(clock) {}

  Result<void> Make() {
    TACHO_RETURN_IF_ERROR(ReadDatasetFile());
    TACHO_RETURN_IF_ERROR(CompleteTarget());
    return CountDataset();
  }

 private:
  Result<ServedModel> WaitForModel(const std::string& url) {
    const int64_t until_ns =
        clock_.NowNs() + std::chrono::nanoseconds(load_.job.ready_timeout).count();
    while (true) {
      auto served = AskModel(client_, url, kPatience, stop_);
      if (served || stop_.stop_requested() || clock_.NowNs() >= until_ns) {
        return served;
      }
      clock_.Pause(stop_, kBetweenAttempts);
    }
  }

  // Checks the servers after the first, before any request is sent. If the user named the model,
  // problems are only remarks and the load goes on.
  Result<void> CheckOtherServers(bool named) {
    const std::string& model = load_.job.target.model;
    for (size_t i = 1; i < load_.job.urls.size(); ++i) {
      const std::string& url = load_.job.urls[i];
      const auto served = WaitForModel(url);
      if (served && std::find(served->all.begin(), served->all.end(), model) != served->all.end())
        continue;
      Error error =
          served ? Error{ErrorKind::kRemote, fmt::format("{}: serves {}, not {} as {}", url,
                                                         served->name, model, load_.job.urls[0])}
                 : served.error();
      if (!named || stop_.stop_requested()) return tl::unexpected<Error>(std::move(error));
      warn_(error.message);
    }
    return {};
  }

  bool HasTexts() const {
    return !load_.dataset.rows.empty() && !load_.dataset.rows.front().text.empty();
  }

  // Asks the first server for what the job leaves open, and checks that it is valid for the others.
  Result<void> CompleteTarget() {
    LoadJob& job = load_.job;
    DriveTarget& target = job.target;
    const bool named = !target.model.empty();
    const auto served = WaitForModel(job.urls[0]);
    if (!served && (!named || stop_.stop_requested())) {
      return tl::unexpected<Error>(served.error());
    }
    if (!named) target.model = served->name;
    TACHO_RETURN_IF_ERROR(CheckOtherServers(named));
    if (served && !job.plan.most_total_tokens) job.plan.most_total_tokens = served->max_model_len;
    if (job.identity.model_id.empty()) job.identity.model_id = target.model;
    if (!HasTexts() && target.api != "chat") {
      auto ids = AskTokenIds(client_, job.urls[0], target.model, kPatience, stop_);
      if (ids) {
        target.token_ids = std::move(*ids);
      } else {
        job.remarks.push_back(ids.error().message +
                              ": prompts are words, about as many as tokens were planned");
      }
    }
    for (const std::string& url : job.urls) {
      DriveTarget& one = load_.targets.emplace_back(target);
      one.url = url;
      one.return_token_ids = target.stream && target.api != "generate" &&
                             AskWhetherTokenIds(client_, url, kPatience, stop_);
    }
    return {};
  }

  // Reads the file before any request, so that an error in it is reported at once.
  Result<void> ReadDatasetFile() {
    LoadJob& job = load_.job;
    if (!job.dataset_path) return {};
    TACHO_ASSIGN_OR_RETURN(const auto bytes, ReadWholeFile(*job.dataset_path, kMostDataset));
    TACHO_ASSIGN_OR_RETURN(load_.dataset,
                           WithContext(ReadDataset(bytes, job.dataset), *job.dataset_path));
    load_.dataset.path = *job.dataset_path;
    for (const BrokenLine& line : load_.dataset.first_broken) {
      warn_(fmt::format("{}:{}: {}", *job.dataset_path, line.line, line.why));
    }
    if (const auto& ignored = load_.dataset.ignored_keys; !ignored.empty()) {
      const DatasetOptions& keys = job.dataset;
      job.remarks.push_back(fmt::format(
          "of the dataset's keys {} {} not read; those that are: conversations, prompt, messages, "
          "output_tokens, {}, {}, {}, {}",
          fmt::join(ignored, ", "), ignored.size() == 1 ? "is" : "are", keys.output_label,
          keys.input_label, keys.timestamp_label, keys.hash_label));
    }
    if (load_.dataset.broken > 0) {
      job.remarks.push_back(fmt::format("left out: {} of the dataset",
                                        FormatCounted(load_.dataset.broken, "broken line")));
    }
    if (load_.dataset.unfit > 0) {
      job.remarks.push_back(
          fmt::format("left out: {} of the dataset without a prompt or without tokens",
                      FormatCounted(load_.dataset.unfit, "line")));
    }
    const TraceUnits& units = load_.dataset.units;
    if (job.plan.replay_speed && !units.time_remark.empty())
      job.remarks.push_back(units.time_remark);
    if (!units.block_remark.empty()) job.remarks.push_back(units.block_remark);
    if (load_.dataset.kind == DatasetKind::kMessages && job.target.api != "chat") {
      return Fail(ErrorKind::kUsage, *job.dataset_path + " holds messages: they need --api chat");
    }
    return {};
  }

  // Only counting its tokens shows how long a text is.
  Result<void> CountDataset() {
    LoadJob& job = load_.job;
    if (!HasTexts()) return {};
    if (job.plan.shuffle && !job.plan.replay_speed) ShuffleRows(load_.dataset, job.plan.seed);
    job.plan.shuffle = false;
    const size_t rows = load_.dataset.rows.size();
    CountOptions options;
    options.patience = kPatience;
    options.rows_needed = job.plan.requests.value_or(kMostCounted);
    options.most_total_tokens = job.plan.most_total_tokens;
    const CountedTokens counted =
        CountTokens(client_, job.urls[0], job.target.model, options, load_.dataset, stop_);
    if (!counted.guessed.empty()) {
      job.remarks.push_back(counted.guessed + ": lengths are guessed, 4 bytes a token");
    }
    if (counted.too_long > 0) {
      job.remarks.push_back(fmt::format(
          "{} of {} prompts of the dataset are longer than the model's {} tokens and were left out",
          counted.too_long, rows, *options.most_total_tokens));
    }
    if (!job.plan.requests && load_.dataset.rows.size() == kMostCounted && rows > kMostCounted) {
      const bool round = job.plan.oversample && !job.plan.replay_speed;
      job.remarks.push_back(fmt::format("the dataset {} after {} of its {} rows (--requests)",
                                        round ? "goes round" : "ends", kMostCounted, rows));
    }
    if (!load_.dataset.rows.empty()) return {};
    return Fail(
        ErrorKind::kUnreadable,
        *job.dataset_path + (counted.too_long > 0
                                 ? ": no prompt that the model takes"
                                 : ": no conversation within vLLM's bounds (4 to 1024 tokens "
                                   "in, at most 2048 in all)"));
  }

  PreparedLoad& load_;
  HttpClient& client_;
  const LoadWarning& warn_;
  const std::stop_token stop_;
  Clock& clock_;
};

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

}  // namespace

Result<PreparedLoad> PrepareLoad(LoadJob job, HttpClient& client, const LoadWarning& warn,
                                 std::stop_token stop, Clock& clock) {
  PreparedLoad load{.job = std::move(job), .targets = {}, .dataset = {}};
  TACHO_RETURN_IF_ERROR(Preparation(load, client, warn, std::move(stop), clock).Make());
  return load;
}

Result<LoadPlan> PlanOf(const PreparedLoad& load, const PlanOptions& options) {
  return load.dataset.rows.empty() ? MakePlan(options) : MakePlan(options, load.dataset);
}

PlanOptions WarmUpOf(const LoadJob& job) {
  PlanOptions options = job.plan;
  options.requests = job.warmups;
  options.duration_ns.reset();
  options.rate.reset();
  options.ramp.reset();
  options.replay_speed.reset();
  options.seed ^= kWarmupSeed;
  if (options.concurrency == 0) options.concurrency = kWarmupsAtOnce;
  return options;
}

FinishedLoad FinishLoad(const PreparedLoad& load, LoadPlan plan, std::string date,
                        LoadRecords records) {
  FinishedLoad finished;
  finished.plan = std::move(plan);
  const PlanOptions& options = finished.plan.options;
  finished.identity = load.job.identity;
  finished.identity.date = std::move(date);
  finished.identity.request_rate = options.rate;
  if (options.concurrency > 0) finished.identity.max_concurrency = options.concurrency;
  finished.records = std::move(records);
  finished.urls = load.job.urls;
  finished.identity.num_prompts = finished.records.requests.size();
  finished.metrics = load.job.metrics;
  finished.slos = load.job.slos;
  finished.remarks = load.job.remarks;
  finished.summary = Summarise(finished.records, SummaryOptionsOf(load.job, options.concurrency));
  return finished;
}

}  // namespace tacho
