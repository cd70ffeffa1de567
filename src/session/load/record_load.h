#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "session/load/background_load.h"
#include "session/recording.h"

namespace tacho {

// The load of one recording: begins it, watches it, and measures it at its end. Without a load
// (--no-load) it does nothing and never ends.
class RecordLoad {
 public:
  // A server that fails this many requests in a row counts as refusing requests.
  static constexpr uint64_t kFewestFailures = 5;

  // All arguments must outlive it.
  RecordLoad(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
             Recording& recording)
      : client_(client), options_(options), observer_(observer), recording_(recording) {}

  Result<void> Begin();
  bool Runs() const { return load_ != nullptr; }
  // Whether all planned requests have ended, or the load could not begin: then a window may end.
  bool HasEnded() const;
  // Whether the load has ended. Call it during a window: the load should outlast the window, so a
  // load that has ended is noted as one that gave up.
  bool GaveUp();
  uint64_t RequestsEnded() const;
  // The answers so far to the requests that are sent directly to this worker. If the load goes
  // through a router: the answers to all requests.
  struct Answers {
    int64_t last_token_ns = 0;  // CLOCK_MONOTONIC; 0: none came
    uint64_t failures_in_row = 0;
    bool nothing_due = false;  // the load has a fixed rate, and no request is in flight
    uint64_t running = 0;      // requests in flight
  };
  Answers AnswersOf(const std::string& url) const;
  bool BehindRouter() const { return recording_.plan && recording_.plan->through_router; }
  // Whether servers refuse every request: no token came, and more requests failed than are in
  // flight now.
  bool AllFail() const;
  const DriveProgress& progress() const { return load_->progress(); }  // while the load runs
  std::string ProgressText() const;                                    // " · 8 running, ..." or ""
  void Cancel();
  // The first error of a load that has ended; "" if no request failed.
  std::string FirstError() const;
  // Ends the load, unless it has ended already, and measures the windows. `interrupted_ns`: when
  // the user pressed Ctrl-C (CLOCK_MONOTONIC), or 0.
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
