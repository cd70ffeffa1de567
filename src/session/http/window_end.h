#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "session/driver.h"
#include "session/http/step_count.h"
#include "session/load/record_load.h"
#include "session/proof/life_watch.h"
#include "session/recording.h"

namespace tacho {

std::vector<Worker> WorkersOf(const Recording& recording);

// Decides when a window by HTTP is over: by its time, its steps, its requests, its load, or because
// an engine died and no other is left or the others are not wanted alone. Reports a death as soon
// as it sees it. Make it before the window: steps count from then on, because engines step while
// profilers start. It may outlive the window, so that nobody waits for its last question about
// which engines live.
class WindowEnd {
 public:
  // All but `patience` and `stop` must outlive it. `patience`: for each look at the metrics.
  WindowEnd(HttpClient& client, const RecordOptions& options, Recording& recording,
            DriverWindow& window, RecordLoad& load, std::chrono::milliseconds patience,
            const std::stop_token& stop);

  void Begin();  // now: all profilers run
  bool IsOver();
  int64_t MostNs() const;  // INT64_MAX: as long as the load
  // How long its steps will take, if nothing else bounds the window.
  std::optional<int64_t> PlannedNs() const;
  void End(RecordObserver& observer);  // now; notes what the window's time cut off

 private:
  uint64_t RequestsEnded() const { return load_.RequestsEnded() - ended_before_; }
  bool StepsTaken();
  // Whether the window, if bounded by the budget, lasts until the least steps are taken.
  bool HoldsLeast() const;
  bool TimeIsUp() const;
  bool MayGoOn() const;
  bool EndedByDeath();

  const RecordOptions& options_;
  Recording& recording_;
  DriverWindow& window_;
  RecordLoad& load_;
  std::optional<StepCount> steps_;
  uint64_t ended_before_ = 0;
  int64_t first_taken_ns_ = 0;  // when the first worker had its steps; 0: none has
  LifeWatch life_;
  std::set<size_t> dead_;  // already reported
};

}  // namespace tacho
