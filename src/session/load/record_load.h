#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "session/load/background_load.h"
#include "session/recording.h"

namespace tacho {

// The load of one recording: begun, watched, and measured at its end. Without a load (--no-load) it
// does nothing and never ends.
class RecordLoad {
 public:
  // After this many failures in a row a server counts as refusing requests.
  static constexpr uint64_t kFewestFailures = 5;

  // All must outlive it.
  RecordLoad(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
             Recording& recording)
      : client_(client), options_(options), observer_(observer), recording_(recording) {}

  Result<void> Begin();
  bool Runs() const { return load_ != nullptr; }
  // Whether all planned requests have ended, or none can be sent: then a window may end.
  bool HasEnded() const;
  // HasEnded, for calls during a window: if the load ended before the window, notes that the load
  // gave up.
  bool GaveUp();
  uint64_t RequestsEnded() const;
  // State of the answers to the requests that are sent directly to this worker; if the load goes
  // through a router, of the answers to all requests.
  struct Answers {
    int64_t last_token_ns = 0;  // CLOCK_MONOTONIC; 0: none came
    uint64_t failures_in_row = 0;
    bool nothing_due = false;  // at a low rate: no request is in flight
    uint64_t running = 0;      // requests in flight
  };
  Answers AnswersOf(const std::string& url) const;
  bool BehindRouter() const { return recording_.plan && recording_.plan->through_router; }
  // Whether servers refuse every request: no token came, and more requests failed than are in
  // flight.
  bool AllFail() const;
  const DriveProgress& progress() const { return load_->progress(); }  // while it runs
  std::string ProgressText() const;                                    // " · 8 running, ..." or ""
  void Cancel();
  std::string FirstError() const;  // of the ended load; "" if no request failed
  // Ends the load, unless it has ended, and measures the windows. `interrupted_ns`: when the user
  // pressed Ctrl-C (CLOCK_MONOTONIC), or 0.
  Result<void> End(int64_t interrupted_ns);

 private:
  void NameFailures();

  HttpClient& client_;
  const RecordOptions& options_;
  RecordObserver& observer_;
  Recording& recording_;
  std::vector<std::string> targets_;  // their URLs, as in the load's progress
  std::unique_ptr<BackgroundLoad> load_;
  bool gave_up_ = false;
};

}  // namespace tacho
