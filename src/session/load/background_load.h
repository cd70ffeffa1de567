#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "load/drive/drive.h"
#include "net/http_client.h"
#include "session/recorded_worker.h"
#include "session/recording_options.h"

namespace tacho {

// The load of a recording. Runs on its own thread from construction to Finish, through warm-up,
// baseline and profiled window, so that no window begins or ends with an empty engine.
class BackgroundLoad {
 public:
  // `plan` must outlive it.
  BackgroundLoad(HttpClient& client, const LoadPlan& plan, std::vector<DriveTarget> targets,
                 DriveOptions drive = {});
  ~BackgroundLoad();  // cancels requests in flight

  const DriveProgress& progress() const { return progress_; }
  bool ended() const { return ended_.load(); }  // all planned requests have ended
  // Asks the load to end; cancels requests in flight.
  void Cancel();
  Result<LoadRecords> Finish();  // cancels, waits and returns the records; call it once

 private:
  DriveProgress progress_;
  std::atomic<bool> ended_ = false;
  std::stop_source stop_;
  std::optional<Result<LoadRecords>> records_;
  std::thread thread_;
};

// The plan of the load that tacho itself sends in a recording. Its requests fit the models' context
// lengths, and it has no end. Fails with kUsage, as MakePlan does.
Result<LoadPlan> PlanOf(const RecordOptions& options, const std::vector<RecordedWorker>& workers,
                        std::vector<Finding>& findings);

// Where the load goes: straight to each worker, or to the router, as prefill and decode workers
// need. Prompts use the model's own token ids if its server reports them, else words. A server that
// does not answer is no error.
Result<std::vector<DriveTarget>> TargetsOf(HttpClient& client, const RecordOptions& options,
                                           const Deployment& deployment,
                                           const std::vector<RecordedWorker>& workers,
                                           std::vector<Finding>& findings);

}  // namespace tacho
