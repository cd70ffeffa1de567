#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "load/plan/dataset.h"
#include "load/result/load_report.h"
#include "net/http_client.h"
#include "session/load/load_job.h"

namespace tacho {

// A load that is ready to be sent: Drive(client, PlanOf(load, load.job.plan), load.targets, ...).
struct PreparedLoad {
  LoadJob job;  // completed by the servers' answers; with remarks for the user
  std::vector<DriveTarget> targets;
  Dataset dataset;
};

// Called at once for each problem that does not end the load.
using LoadWarning = std::function<void(const std::string& text)>;

// Fills in what the job leaves open. First reads the dataset, so that errors in it are reported
// before any request. Then asks the first server for its model and token ids, and the others
// whether they serve that model; the first server's tokenizer counts the tokens of texts. kUsage,
// kUnreadable, kRemote.
Result<PreparedLoad> PrepareLoad(LoadJob job, HttpClient& client, const LoadWarning& warn,
                                 std::stop_token stop, Clock& clock = SystemClock());

Result<LoadPlan> PlanOf(const PreparedLoad& load, const PlanOptions& options);
// The warm-up requests: LoadJob::warmups requests like those of the load, with another seed.
PlanOptions WarmUpOf(const LoadJob& job);

// `date`: when the load began, in the form of DateStamp.
FinishedLoad FinishLoad(const PreparedLoad& load, LoadPlan plan, std::string date,
                        LoadRecords records);

}  // namespace tacho
