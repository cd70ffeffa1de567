#include "cli/load/load_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/screen/output.h"
#include "control/live/token_ids.h"
#include "io/read_whole.h"
#include "load/drive/served_model.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr size_t kMostDataset = size_t{4} << 30;
constexpr size_t kMostCounted = 10'000;  // rows, if no number of requests bounds them

Result<ServedModel> WaitForModel(LoadScene& scene, const std::string& url) {
  const auto until = std::chrono::steady_clock::now() + scene.job.ready_timeout;
  while (true) {
    auto served = AskModel(*scene.client, url, kPatience, scene.stop);
    if (served || scene.stop.stop_requested() || std::chrono::steady_clock::now() >= until) {
      return served;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

// Checks the other servers before their requests fail. If the user named the model, problems are
// remarks and the load goes on.
Result<void> CheckOtherServers(LoadScene& scene, bool named) {
  const std::string& model = scene.job.target.model;
  for (size_t i = 1; i < scene.job.urls.size(); ++i) {
    const std::string& url = scene.job.urls[i];
    const auto served = WaitForModel(scene, url);
    if (served && std::find(served->all.begin(), served->all.end(), model) != served->all.end())
      continue;
    Error error =
        served ? Error{ErrorKind::kRemote, fmt::format("{}: serves {}, not {} as {}", url,
                                                       served->name, model, scene.job.urls[0])}
               : served.error();
    if (!named || scene.stop.stop_requested()) return tl::unexpected<Error>(std::move(error));
    Complain(VisibleText(error.message));
  }
  return {};
}

bool HasTexts(const LoadScene& scene) {
  return !scene.dataset.rows.empty() && !scene.dataset.rows.front().text.empty();
}

// Asks the first server for what the flags leave open, and checks that it holds for the others.
Result<void> CompleteTarget(LoadScene& scene) {
  LoadJob& job = scene.job;
  DriveTarget& target = job.target;
  const bool named = !target.model.empty();
  const auto served = WaitForModel(scene, job.urls[0]);
  if (!served && (!named || scene.stop.stop_requested())) {
    return tl::unexpected<Error>(served.error());
  }
  if (!named) target.model = served->name;
  TACHO_RETURN_IF_ERROR(CheckOtherServers(scene, named));
  if (served && !job.plan.most_total_tokens) job.plan.most_total_tokens = served->max_model_len;
  job.identity.model_id = scene.flags.model.empty() ? target.model : scene.flags.model;
  if (!HasTexts(scene) && target.api != "chat") {
    auto ids = AskTokenIds(*scene.client, job.urls[0], target.model, kPatience, scene.stop);
    if (ids) {
      target.token_ids = std::move(*ids);
    } else {
      job.remarks.push_back(ids.error().message +
                            ": prompts are words, about as many as tokens were planned");
    }
  }
  for (const std::string& url : job.urls) {
    DriveTarget& one = scene.targets.emplace_back(target);
    one.url = url;
    one.return_token_ids = target.stream && target.api != "generate" &&
                           AskWhetherTokenIds(*scene.client, url, kPatience, scene.stop);
  }
  return {};
}

// Reads the file before any request, so that an error in it is reported at once.
Result<void> ReadDatasetFile(LoadScene& scene) {
  LoadJob& job = scene.job;
  if (!job.dataset_path) return {};
  TACHO_ASSIGN_OR_RETURN(const auto bytes, ReadWholeFile(*job.dataset_path, kMostDataset));
  TACHO_ASSIGN_OR_RETURN(scene.dataset,
                         WithContext(ReadDataset(bytes, job.dataset), *job.dataset_path));
  scene.dataset.path = *job.dataset_path;
  for (const BrokenLine& line : scene.dataset.first_broken) {
    Complain(
        fmt::format("{}:{}: {}", VisibleText(*job.dataset_path), line.line, VisibleText(line.why)));
  }
  if (const auto& ignored = scene.dataset.ignored_keys; !ignored.empty()) {
    const DatasetOptions& keys = job.dataset;
    job.remarks.push_back(fmt::format(
        "of the dataset's keys {} {} not read; those that are: conversations, prompt, messages, "
        "output_tokens, {}, {}, {}, {}",
        fmt::join(ignored, ", "), ignored.size() == 1 ? "is" : "are", keys.output_label,
        keys.input_label, keys.timestamp_label, keys.hash_label));
  }
  if (scene.dataset.broken > 0) {
    job.remarks.push_back(fmt::format("left out: {} of the dataset",
                                      FormatCounted(scene.dataset.broken, "broken line")));
  }
  if (scene.dataset.unfit > 0) {
    job.remarks.push_back(
        fmt::format("left out: {} of the dataset without a prompt or without tokens",
                    FormatCounted(scene.dataset.unfit, "line")));
  }
  const TraceUnits& units = scene.dataset.units;
  if (job.plan.replay_speed && !units.time_remark.empty()) job.remarks.push_back(units.time_remark);
  if (!units.block_remark.empty()) job.remarks.push_back(units.block_remark);
  if (scene.dataset.kind == DatasetKind::kMessages && job.target.api != "chat") {
    return Fail(ErrorKind::kUsage, *job.dataset_path + " holds messages: they need --api chat");
  }
  return {};
}

// The length of a text is known only by counting its tokens.
Result<void> CountDataset(LoadScene& scene) {
  LoadJob& job = scene.job;
  if (!HasTexts(scene)) return {};
  if (job.plan.shuffle && !job.plan.replay_speed) ShuffleRows(scene.dataset, job.plan.seed);
  job.plan.shuffle = false;
  const size_t rows = scene.dataset.rows.size();
  CountOptions options;
  options.patience = kPatience;
  options.rows_needed = job.plan.requests.value_or(kMostCounted);
  options.most_total_tokens = job.plan.most_total_tokens;
  const CountedTokens counted =
      CountTokens(*scene.client, job.urls[0], job.target.model, options, scene.dataset, scene.stop);
  if (!counted.guessed.empty()) {
    job.remarks.push_back(counted.guessed + ": lengths are guessed, 4 bytes a token");
  }
  if (counted.too_long > 0) {
    job.remarks.push_back(fmt::format(
        "{} of {} prompts of the dataset are longer than the model's {} tokens and were left out",
        counted.too_long, rows, *options.most_total_tokens));
  }
  if (!job.plan.requests && scene.dataset.rows.size() == kMostCounted && rows > kMostCounted) {
    const bool round = job.plan.oversample && !job.plan.replay_speed;
    job.remarks.push_back(fmt::format("the dataset {} after {} of its {} rows (--requests)",
                                      round ? "goes round" : "ends", kMostCounted, rows));
  }
  if (!scene.dataset.rows.empty()) return {};
  return Fail(ErrorKind::kUnreadable,
              *job.dataset_path + (counted.too_long > 0
                                       ? ": no prompt that the model takes"
                                       : ": no conversation within vLLM's bounds (4 to 1024 tokens "
                                         "in, at most 2048 in all)"));
}

}  // namespace

Result<void> PrepareScene(LoadScene& scene) {
  TACHO_RETURN_IF_ERROR(ReadDatasetFile(scene));
  TACHO_RETURN_IF_ERROR(CompleteTarget(scene));
  return CountDataset(scene);
}

}  // namespace tacho
