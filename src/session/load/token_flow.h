#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/live/probe.h"
#include "session/driver.h"
#include "session/load/record_load.h"
#include "session/proof/life_watch.h"
#include "session/recording.h"

namespace tacho {

// What to wait for: a token from every worker in `which`, each later than the worker's time in
// `since_ns`.
struct TokenWait {
  std::string_view phase;  // name of the waiting phase, for the progress line
  std::vector<size_t> which = {};
  // CLOCK_MONOTONIC, in the order of `which`; empty: the time of the call.
  std::vector<int64_t> since_ns = {};
  std::function<bool()> done = {};      // if set, the wait also ends when this returns true
  std::optional<int64_t> most_ns = {};  // the longest wait; absent: --timeout, or two minutes
};

// What one look shows about a worker.
enum class Flow : uint8_t {
  kFlows,   // a token came; or, at a low rate, no request is waiting for one
  kFails,   // its requests keep failing, which is reported elsewhere
  kSilent,  // requests wait, and no token came
};

// Watches whether the engines answer the load that tacho sends. A profiler's start or flush may
// hold up an engine for minutes, and a window that begins in that time sees no step. TokenFlow
// watches the tokens from each worker. A router may hide which worker sent a token, so behind a
// router it watches the engines' counters as well. If tacho sends no load, it waits for nothing.
class TokenFlow {
 public:
  // All arguments must outlive it.
  TokenFlow(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
            const RecordLoad& load, std::stop_token stop)
      : client_(client),
        options_(options),
        observer_(observer),
        load_(load),
        stop_(std::move(stop)) {}

  // Waits, and reports which workers it waits for. Returns a finding for each worker that takes no
  // requests: during the whole wait no token came from it, and its counters show no step. Does not
  // wait for dead workers. `recording` holds the workers.
  std::vector<Finding> Await(const TokenWait& wait, const Recording& recording);
  // Awaits a token from all workers of `window`, and leaves out those that take no requests.
  // Returns false if nothing can be recorded without them.
  bool AwaitAll(DriverWindow& window, std::string_view phase, int64_t since_ns,
                const Recording& recording);
  // Waits until each worker whose profiler runs has sent a token since its profiler's start,
  // because a start may hold up an engine. A worker that takes no requests at that time would have
  // no step in the window.
  void AwaitStarted(const DriverWindow& window, const Recording& recording);
  // Returns the findings of the waits so far, each finding only once.
  std::vector<Finding> TakeFindings() { return std::exchange(findings_, {}); }

 private:
  struct Watched {
    size_t worker = 0;
    int64_t since_ns = 0;
    bool flows = false;
  };
  Flow Look(const Watched& watched, const Recording& recording) const;
  std::optional<bool> CountersMoved(size_t worker) const;
  void ReadCounters(const Recording& recording);
  bool AllDead(const std::vector<Watched>& silent, const Recording& recording);
  std::string WhatItDoes(size_t worker) const;

  HttpClient& client_;
  const RecordOptions& options_;
  RecordObserver& observer_;
  const RecordLoad& load_;
  const std::stop_token stop_;
  // The metrics of all workers: at the beginning of the wait, and at the last look.
  std::vector<Result<MetricsSnapshot>> before_ = {}, now_ = {};
  std::vector<Finding> findings_ = {};
  int64_t next_counters_ns_ = 0;
  // Watches which engines are dead. Its last question may still be unanswered when Await returns.
  // The next Await replaces the watch, and that waits for the answers.
  std::optional<LifeWatch> life_;
};

}  // namespace tacho
