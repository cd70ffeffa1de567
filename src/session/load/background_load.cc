#include "session/load/background_load.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/live/token_ids.h"
#include "control/version.h"
#include "load/drive/served_model.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr std::chrono::seconds kPatienceForTokenIds{30};
constexpr uint64_t kRequestsAtOnce = 8;  // for each worker, unless the options say otherwise
// The length of the plan, which is sent again and again. It must be long enough to hold requests at
// a low rate, too.
constexpr int64_t kRoundNs = 120'000'000'000;
constexpr double kRequestsOfARound = 64;

}  // namespace

BackgroundLoad::BackgroundLoad(HttpClient& client, const LoadPlan& plan,
                               std::vector<DriveTarget> targets, DriveOptions drive)
    : progress_(targets.size()),
      thread_([this, &client, &plan, targets = std::move(targets), drive = std::move(drive)] {
        records_ = Drive(client, plan, targets, progress_, stop_.get_token(), drive);
        ended_ = true;
      }) {}

BackgroundLoad::~BackgroundLoad() {
  Cancel();
  if (thread_.joinable()) thread_.join();
}

void BackgroundLoad::Cancel() { stop_.request_stop(); }

Result<LoadRecords> BackgroundLoad::Finish() {
  Cancel();
  thread_.join();
  return std::move(*records_);
}

Result<std::vector<DriveTarget>> TargetsOf(HttpClient& client, const RecordOptions& options,
                                           const Deployment& deployment,
                                           const std::vector<RecordedWorker>& workers,
                                           std::vector<Finding>& findings) {
  for (const RecordedWorker& worker : workers)
    if (const std::string_view why =
            EngineRule(worker.facts.kind, worker.facts.version, "load_elsewhere");
        !why.empty())
      return Fail(ErrorKind::kUsage, fmt::format("{}: {}", worker.worker.url, why));
  bool disaggregated = std::any_of(workers.begin(), workers.end(), [](const RecordedWorker& w) {
    return w.worker.role != WorkerRole::kRegular;
  });
  bool routed = options.through_router || disaggregated;
  if (routed && deployment.router_url.empty())
    return Fail(ErrorKind::kUsage,
                disaggregated ? "prefill and decode workers are driven through their router: give "
                                "its URL, or --no-load"
                              : "--through-router: no router among the targets");
  if (disaggregated && !options.through_router)
    findings.push_back({FindingId::kLoadThroughRouter, "",
                        "prefill and decode workers: the load goes through the router"});
  // Asks only the first worker: all workers serve one model.
  const RecordedWorker& first = workers.front();
  const std::vector<int64_t> ids =
      AskTokenIds(client, first.worker.url, first.facts.model, kPatienceForTokenIds)
          .value_or(std::vector<int64_t>());
  auto target = [&](const std::string& url, const std::string& model) {
    DriveTarget one;
    one.url = url;
    one.model = model;
    one.token_ids = ids;
    return one;
  };
  std::vector<DriveTarget> targets;
  if (routed) {
    targets.push_back(target(deployment.router_url, first.facts.model));
    targets.back().return_token_ids =
        NeedsTokenIds(deployment.router_kind, first.facts.kind, first.facts.version);
  } else
    for (const RecordedWorker& worker : workers)
      targets.push_back(target(worker.worker.url, worker.facts.model));
  return targets;
}

Result<LoadPlan> PlanOf(const RecordOptions& options, const std::vector<RecordedWorker>& workers,
                        std::vector<Finding>& findings) {
  PlanOptions plan = options.plan;
  if (plan.concurrency == 0 && !plan.rate) plan.concurrency = kRequestsAtOnce * workers.size();
  for (const RecordedWorker& worker : workers)
    if (worker.facts.max_model_len)
      plan.most_total_tokens =
          std::min(plan.most_total_tokens.value_or(INT64_MAX), *worker.facts.max_model_len);
  // The plan has no end: a profiler's start or flush, which needs the load, may take any time. The
  // recording ends the load.
  plan.until_stopped = true;
  plan.duration_ns = std::max(
      kRoundNs,
      static_cast<int64_t>(std::min(kRequestsOfARound / plan.rate.value_or(1) * 1e9, 1e18)));
  Result<LoadPlan> planned = MakePlan(plan);
  if (planned && planned->cut_to_model > 0)
    findings.push_back(
        {FindingId::kRequestsShortened, "",
         fmt::format("{} % of the planned requests were shortened to the model's {} tokens",
                     FormatPercent(static_cast<double>(planned->cut_to_model) /
                                   static_cast<double>(planned->requests.size())),
                     *plan.most_total_tokens)});
  return planned;
}

}  // namespace tacho
