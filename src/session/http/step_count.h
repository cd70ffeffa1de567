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

// Those taken between two looks: one for each engine that reports its steps in one of them, in the
// order of their numbers; nullopt if the other look does not. So of another counter.
std::vector<std::optional<int64_t>> StepsBetween(
    const MetricsSnapshot& before, const MetricsSnapshot& after,
    std::optional<double> EngineCounters::*counter = &EngineCounters::steps);

// Whether any counter of work moved between two looks; nullopt if the metrics do not tell.
std::optional<bool> CountersMoved(const MetricsSnapshot& before, const MetricsSnapshot& after);

// How many steps from the start on end the profile and flush it: the steps asked for and the next
// one. nullopt if time alone ends it; by stage each stage has its own count, which no metric
// reports.
std::optional<int64_t> StepsToFlush(const ProfileOptions& profile);

// Whether all workers have taken `needed` steps since it was made.
class StepCount {
 public:
  StepCount(HttpClient& client, std::vector<Worker> workers, std::chrono::milliseconds patience,
            int64_t needed, std::stop_token stop);
  // Asks the engines, half a second after the last time at the earliest. False if one does not
  // report its steps.
  bool Taken();
  // Waits no longer for this one, which died.
  void LeaveOut(size_t worker) { left_out_.insert(worker); }
  // The fewest that an engine has taken, of those that took some; nullopt: none has, or none
  // reports its steps. By the same look.
  std::optional<int64_t> Fewest() const { return fewest_; }
  // Whether one had, by the same look.
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
