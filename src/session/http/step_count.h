#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "control/live/probe.h"
#include "control/live/profile_control.h"

namespace tacho {

// Counts engine steps by the counters in the engines' own metrics.

// The steps that each engine took between two looks at the metrics, in the order of the engines'
// numbers; nullopt for an engine that reports its steps in only one of the looks. `counter`: the
// counter to compare; by default the counter of steps.
std::vector<std::optional<int64_t>> StepsBetween(
    const MetricsSnapshot& before, const MetricsSnapshot& after,
    std::optional<double> EngineCounters::*counter = &EngineCounters::steps);

// Whether any counter of work (steps, tokens) grew between two looks; nullopt if the metrics have
// none.
std::optional<bool> CountersMoved(const MetricsSnapshot& before, const MetricsSnapshot& after);

// The number of steps after the start at which the engine ends the profile and flushes it:
// `delay_iterations`, the steps asked for, and one more. nullopt if only time ends the profile, or
// if the engine counts steps for each stage, which no metric reports.
std::optional<int64_t> StepsToFlush(const ProfileOptions& profile);

// Finds out whether all workers have taken more than `needed` steps since its construction.
class StepCount {
 public:
  StepCount(HttpClient& client, std::vector<Worker> workers, std::chrono::milliseconds patience,
            int64_t needed, std::stop_token stop);
  // Whether all workers have taken more than `needed` steps. Asks the engines at most twice a
  // second. Returns false between two looks, and if an engine does not report its steps.
  bool Taken();
  // Stops waiting for this worker, which died.
  void LeaveOut(size_t worker) { left_out_.insert(worker); }
  // The fewest steps that an engine had taken at the last look of Taken, without engines that had
  // taken none. nullopt if no engine had taken a step, or none reports its steps.
  std::optional<int64_t> Fewest() const { return fewest_; }
  // Whether at least one worker has ever been seen to take more than `needed` steps.
  bool AnyTaken() const { return any_taken_; }

 private:
  std::vector<Result<MetricsSnapshot>> Look() const {
    return ReadMetricsAll(client_, workers_, patience_, stop_);
  }

  HttpClient& client_;
  const std::vector<Worker> workers_;
  const std::chrono::milliseconds patience_;
  const int64_t needed_;
  const std::stop_token stop_;
  const std::vector<Result<MetricsSnapshot>> from_;
  std::set<size_t> left_out_;
  int64_t next_look_ns_ = 0;
  bool any_taken_ = false;
  std::optional<int64_t> fewest_;
};

}  // namespace tacho
