#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "run/read_run.h"
#include "serve/served_run.h"

namespace tacho {

// Passes what ReadRun reads to a ServedRun, which it makes once the traces are found.
class ViewFeed : public TraceKeeper, public RunProgress {
 public:
  // `info`: incomplete until the traces are found. `classifier` must outlive it.
  ViewFeed(ServedRunInfo info, const Classifier& classifier)
      : info_(std::move(info)), classifier_(classifier) {}

  void OnPlan(size_t, uint64_t stored_bytes) override { info_.stored_bytes = stored_bytes; }
  void OnBytes(uint64_t stored_bytes) override;
  void OnFound(const Discovery& found) override;
  void OnBegin(size_t source) override { run_->Begin(source); }
  void OnTrace(size_t source, const std::string& path, std::unique_ptr<const Trace> trace,
               const PreparedTrace& prepared, const std::optional<InFlight>& in_flight) override;
  void OnEnd(size_t source, const Error* failure) override;
  // `more`: change of the number of nsys programs that export a report now.
  void OnExports(int more) { exports_ += more; }
  [[nodiscard]] bool exporting() const { return exports_ > 0; }

  // Call it once, with what ReadRun returned. Ranks that were read but are not in it belong to
  // other sessions.
  void Finish(Result<Readout<RunAnalysis>> readout);
  // What remains of the readout.
  struct Outcome {
    std::shared_ptr<const RunAnalysis> run;
    std::vector<Error> failures;
    size_t blanked = 0;  // Readout::Blanked
  };

  // Waits at most `time` until the traces are found or Finish is called. Returns whether either
  // happened.
  bool WaitForRun(std::chrono::milliseconds time);
  // Call it after WaitForRun returned true. Null: there is nothing to show, and outcome() says why.
  [[nodiscard]] const std::shared_ptr<ServedRun>& run() const { return run_; }
  // Waits at most `time` until Finish, or until so much was read that the traces look readable.
  // Returns whether Finish was called.
  bool WaitForFirstLook(std::chrono::milliseconds time);
  // Waits at most `time` for Finish. Returns whether it was called.
  bool WaitForEnd(std::chrono::milliseconds time);
  // Call it after WaitForEnd returned true.
  [[nodiscard]] const Result<Outcome>& outcome() const { return *outcome_; }
  // The files that were found.
  [[nodiscard]] const std::set<std::string>& files() const { return files_; }

 private:
  // Marks the ranks that are not in the analysis as failed.
  void FailOthers(const RunAnalysis& analysis);

  ServedRunInfo info_;
  const Classifier& classifier_;
  size_t threads_ = 1;                      // for laying out the rows of each trace
  std::vector<std::vector<size_t>> ranks_;  // by source: the ranks of its traces
  std::set<std::string> files_;
  std::atomic<int> exports_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<ServedRun> run_;
  std::optional<Result<Outcome>> outcome_;
};

}  // namespace tacho
