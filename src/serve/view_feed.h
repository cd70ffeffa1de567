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

// Passes what ReadRun reads to a ServedRun, which this object makes once the traces are found.
class ViewFeed : public TraceKeeper, public RunProgress {
 public:
  // `info` is still incomplete; the rest is filled in when the traces are found. `classifier` must
  // outlive this object.
  ViewFeed(ServedRunInfo info, const Classifier& classifier)
      : info_(std::move(info)), classifier_(classifier) {}

  void OnPlan(size_t, uint64_t stored_bytes) override { info_.stored_bytes = stored_bytes; }
  void OnBytes(uint64_t stored_bytes) override;
  void OnFound(const Discovery& found) override;
  void OnBegin(size_t source) override { run_->Begin(source); }
  void OnTrace(size_t source, const std::string& path, std::unique_ptr<const Trace> trace,
               const PreparedTrace& prepared, const std::optional<InFlight>& in_flight) override;
  void OnEnd(size_t source, const Error* failure) override;
  // `more`: how many more (or, below 0, fewer) nsys programs are now exporting a report.
  void OnExports(int more) { exports_ += more; }
  [[nodiscard]] bool exporting() const { return exports_ > 0; }

  // Call it once, with the result of ReadRun. Ranks that were read but are missing in the result
  // belong to other sessions or are copies; they are marked as failed.
  void Finish(Result<Readout<RunAnalysis>> readout);
  // The parts of ReadRun's result that are kept.
  struct Outcome {
    std::shared_ptr<const RunAnalysis> run;
    std::vector<Error> failures;
    size_t blanked = 0;  // what Readout::Blanked returned
  };

  // Waits at most `time` until the traces are found or Finish is called. Returns whether one of the
  // two happened.
  bool WaitForRun(std::chrono::milliseconds time);
  // Call it after WaitForRun returned true. Null if there is nothing to show; outcome() then says
  // why.
  [[nodiscard]] const std::shared_ptr<ServedRun>& run() const { return run_; }
  // Waits at most `time` until Finish is called, or until enough was read to tell that the traces
  // are readable. Returns whether Finish was called.
  bool WaitForFirstLook(std::chrono::milliseconds time);
  // Waits at most `time` for Finish. Returns whether it was called.
  bool WaitForEnd(std::chrono::milliseconds time);
  // Call it after WaitForEnd returned true.
  [[nodiscard]] const Result<Outcome>& outcome() const { return *outcome_; }
  // The paths of the files that were found.
  [[nodiscard]] const std::set<std::string>& files() const { return files_; }

 private:
  // Marks ranks whose traces are not in the analysis as failed.
  void FailOthers(const RunAnalysis& analysis);

  ServedRunInfo info_;
  const Classifier& classifier_;
  size_t threads_ = 1;                      // for laying out each trace's rows
  std::vector<std::vector<size_t>> ranks_;  // for each source: the ranks of its traces
  std::set<std::string> files_;
  std::atomic<int> exports_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<ServedRun> run_;
  std::optional<Result<Outcome>> outcome_;
};

}  // namespace tacho
