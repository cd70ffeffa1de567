#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "control/live/session_lock.h"
#include "session/driver.h"
#include "session/recorded_worker.h"
#include "session/recording_options.h"
#include "session/run_folder/run_folder.h"

namespace tacho {

// What is known before anything is started.
struct Preflight {
  Deployment deployment;
  std::vector<RecordedWorker> workers;   // those that will be profiled
  std::vector<RecordedWorker> left_out;  // with keep_going: the others
  std::unique_ptr<Driver> driver;        // set, unless no worker could be asked
  SessionLock lock;
  std::vector<Finding> findings;  // the findings of `left_out` come last
};

// Finds and asks the workers, plans every request, takes the locks, and looks where the traces will
// be and whether there is room. With keep_going, workers that cannot be profiled are left out;
// without it, the problem of the first such worker is the error.
Result<Preflight> RunPreflight(HttpClient& client, const RecordOptions& options,
                               const RunFolder& folder, const std::string& key,
                               std::stop_token stop);

// Adds a finding if the clock of the worker's host differs much from ours.
void LookAtClock(const Worker& worker, const EngineFacts& facts, std::vector<Finding>& findings);

}  // namespace tacho
