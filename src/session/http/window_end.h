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
// an engine died and no other is left or keep_going is not set. Reports a death as soon as it sees
// it. Make it before the window: steps count from then on, because engines step while profilers
// start. Keep it after the window: its destructor waits for the last check of which engines live.
class WindowEnd {
 public:
  // The objects passed by reference, except `stop`, must outlive it. `patience`: for each look at
  // the metrics.
  WindowEnd(HttpClient& client, const RecordOptions& options, Recording& recording,
            DriverWindow& window, RecordLoad& load, std::chrono::milliseconds patience,
            const std::stop_token& stop);

  void Begin();  // call it when all profilers run
  bool IsOver();
  int64_t MostNs() const;  // INT64_MAX: until the load ends
  // How long the planned steps will take, if only they bound the window.
  std::optional<int64_t> PlannedNs() const;
  void End(RecordObserver& observer);  // ends the window now; notes what its time cut off

 private:
  uint64_t RequestsEnded() const { return load_.RequestsEnded() - ended_before_; }
  bool StepsTaken();
  // Whether the window may exceed its time until kLeastSteps are taken: only one that tacho's own
  // budget bounds.
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
