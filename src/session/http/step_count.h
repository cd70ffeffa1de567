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

// Engine steps by the engines' own counters, in their metrics.

// The steps taken between two looks at the metrics: one entry for each engine that reports its
// steps in one of the looks, in the order of the engines' numbers; nullopt if the other look does
// not report them. `counter`: the counter to compare; by default that of the steps.
std::vector<std::optional<int64_t>> StepsBetween(
    const MetricsSnapshot& before, const MetricsSnapshot& after,
    std::optional<double> EngineCounters::*counter = &EngineCounters::steps);

// Whether any counter of work moved between two looks; nullopt if the metrics do not show it.
std::optional<bool> CountersMoved(const MetricsSnapshot& before, const MetricsSnapshot& after);

// After how many steps from the start the engine ends the profile and flushes it: the steps asked
// for and the next one. nullopt if time alone ends the profile, or if it counts steps by stage: no
// metric reports the count of a stage.
std::optional<int64_t> StepsToFlush(const ProfileOptions& profile);

// Finds out whether all workers have taken `needed` steps since its construction.
class StepCount {
 public:
  StepCount(HttpClient& client, std::vector<Worker> workers, std::chrono::milliseconds patience,
            int64_t needed, std::stop_token stop);
  // Whether all have taken them. Asks the engines at most once in half a second; false in between,
  // and if an engine does not report its steps.
  bool Taken();
  // No longer waits for this worker, which died.
  void LeaveOut(size_t worker) { left_out_.insert(worker); }
  // The fewest steps among the engines that have taken some, at Taken's last look; nullopt: no
  // engine has taken or reports any.
  std::optional<int64_t> Fewest() const { return fewest_; }
  // Whether a worker had taken `needed` steps, at the same look.
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
