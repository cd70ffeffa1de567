#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "control/live/session_lock.h"
#include "control/nsys/nsys_control.h"
#include "session/recorded_worker.h"
#include "session/recording_options.h"
#include "session/run_folder/run_folder.h"

namespace tacho {

// What is known before anything is started.
struct Preflight {
  Deployment deployment;
  std::vector<RecordedWorker> workers;   // those that will be profiled
  std::vector<RecordedWorker> left_out;  // with keep_going: the others
  Via via = Via::kHttp;
  SessionLock lock;
  std::optional<NsysControl> nsys = {};  // by nsys alone
  std::vector<Finding> findings;         // those of `left_out` come last
};

// Finds and asks the workers, plans every request, takes the locks, and looks where the traces will
// be and whether there is room. With keep_going, workers that cannot be profiled are left out;
// without it, what blocks the first one is the error.
Result<Preflight> RunPreflight(HttpClient& client, const RecordOptions& options,
                               const RunFolder& folder, const std::string& key,
                               std::stop_token stop);

// Adds a finding if the clock of the worker's host differs much from ours.
void LookAtClock(const Worker& worker, const EngineFacts& facts, std::vector<Finding>& findings);

}  // namespace tacho
