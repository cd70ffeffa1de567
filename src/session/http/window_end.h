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

// Decides when a window that is driven by HTTP is over: after its time, its steps or its requests,
// when its load ends, or when an engine died and keep_going is not set or no other engine is left.
// Reports a death as soon as it sees one. Construct it before the profilers start, because it must
// also count the steps that engines take meanwhile. Destroying it waits for a pending check of
// which engines are alive, so keep it until after the window.
class WindowEnd {
 public:
  // The objects passed by reference, except `stop`, must outlive it. `patience`: how long each look
  // at the metrics may take.
  WindowEnd(HttpClient& client, const RecordOptions& options, Recording& recording,
            DriverWindow& window, RecordLoad& load, std::chrono::milliseconds patience,
            const std::stop_token& stop);

  void Begin();  // call it when all profilers run
  bool IsOver();
  int64_t MostNs() const;  // longest time after Begin; INT64_MAX: until the load ends
  // How long the planned steps will take, if no other limit may end the window.
  std::optional<int64_t> PlannedNs() const;
  // Ends the window now, and notes what did not fit into its time.
  void End(RecordObserver& observer);

 private:
  uint64_t RequestsEnded() const { return load_.RequestsEnded() - ended_before_; }
  bool StepsTaken();
  // Whether the window may exceed its time until kLeastSteps are taken. True only if tacho's own
  // budget, and not the user, bounds the window.
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
  int64_t first_taken_ns_ = 0;  // when the first worker had taken its steps; 0: none has
  LifeWatch life_;
  std::set<size_t> dead_;  // already reported
};

}  // namespace tacho
