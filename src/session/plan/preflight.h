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

// What is known before anything starts.
struct Preflight {
  Deployment deployment;
  std::vector<RecordedWorker> workers;   // those that will be profiled
  std::vector<RecordedWorker> left_out;  // with keep_going: workers that cannot be profiled
  std::unique_ptr<Driver> driver;        // null if no worker could be asked
  SessionLock lock;
  std::vector<Finding> findings;  // the findings of `left_out` come last
};

// Finds the workers and asks each what it can do, plans every request, locks the workers, and
// checks where the traces will go and whether there is room. With keep_going, leaves out workers
// that cannot be profiled; without it, fails with the problem of the first such worker.
Result<Preflight> RunPreflight(HttpClient& client, const RecordOptions& options,
                               const RunFolder& folder, const std::string& key,
                               std::stop_token stop);

// Adds a finding if the clock of the worker's host differs much from ours.
void LookAtClock(const Worker& worker, const EngineFacts& facts, std::vector<Finding>& findings);

}  // namespace tacho
