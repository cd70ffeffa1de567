#include "session/background_load.h"

#include <fmt/format.h>

#include <algorithm>

#include "load/served_model.h"

namespace tacho {
namespace {

constexpr std::chrono::seconds kPatienceForTokenIds{30};

}  // namespace

BackgroundLoad::BackgroundLoad(HttpClient& client, LoadPlan plan, std::vector<DriveTarget> targets)
    : plan_(std::move(plan)), thread_([this, &client, targets = std::move(targets)] {
        records_ = Drive(client, plan_, targets, progress_, stop_.get_token());
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
                                           std::vector<std::string>& remarks) {
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
    remarks.push_back("prefill and decode workers: the load goes through the router");
  // One model behind all: its first worker is asked for all of them.
  const std::vector<int64_t> ids = AskTokenIds(client, workers.front().worker.url,
                                               workers.front().facts.model, kPatienceForTokenIds);
  auto target = [&](const std::string& url, const std::string& model) {
    DriveTarget one;
    one.url = url;
    one.model = model;
    one.bearer_key = options.api_key;
    one.token_ids = ids;
    return one;
  };
  std::vector<DriveTarget> targets;
  if (routed)
    targets.push_back(target(deployment.router_url, workers.front().facts.model));
  else
    for (const RecordedWorker& worker : workers)
      targets.push_back(target(worker.worker.url, worker.facts.model));
  return targets;
}

}  // namespace tacho
