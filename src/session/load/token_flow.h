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

// What to wait for: a token from every worker in `which`, after its time in `since_ns`.
struct TokenWait {
  std::string_view phase;  // for the progress
  std::vector<size_t> which = {};
  std::vector<int64_t> since_ns = {};   // CLOCK_MONOTONIC, in the order of `which`; empty: from now
  std::function<bool()> done = {};      // ends the wait
  std::optional<int64_t> most_ns = {};  // instead of --timeout, or two minutes
};

// What one look shows of a worker.
enum class Flow : uint8_t {
  kFlows,   // a token came; or at a low rate no request waits for one
  kFails,   // its requests fail, one after the other: reported elsewhere
  kSilent,  // requests wait, and no token came
};

// Watches whether the engines answer the recording's own load: a start or a flush may hold an
// engine up for minutes, and a window that begins meanwhile sees no step. It watches the tokens
// that come from each worker. Through a router, which may hide their worker, it watches the
// engines' counters as well. Without a load of tacho's own it waits for nothing.
class TokenFlow {
 public:
  // All must outlive it.
  TokenFlow(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
            const RecordLoad& load, std::stop_token stop)
      : client_(client),
        options_(options),
        observer_(observer),
        load_(load),
        stop_(std::move(stop)) {}

  // Waits, and says whom it waits for. Returns a finding for each worker that takes no requests: in
  // all that time no token came, and the worker's counters show no step. Does not wait for dead
  // workers. `recording` holds the workers.
  std::vector<Finding> Await(const TokenWait& wait, const Recording& recording);
  // The same for all workers of `window`; leaves out those that take no requests. Returns false if
  // nothing can be recorded then.
  bool AwaitAll(DriverWindow& window, std::string_view phase, int64_t since_ns,
                const Recording& recording);
  // Waits until each worker whose profiler runs has sent a token since its start: a start may hold
  // an engine up. A worker that takes no requests now would have no step in the window.
  void AwaitStarted(const DriverWindow& window, const Recording& recording);
  // The findings of the waits so far; returns each finding once.
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
  // Its last look may still run when an Await is over. Then the next Await begins when that look
  // has its answers.
  std::optional<LifeWatch> life_;
};

}  // namespace tacho
