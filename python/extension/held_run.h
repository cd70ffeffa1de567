#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame.h"
#include "query/queried_trace.h"
#include "run/read_run.h"

namespace tacho {

// What to read; see the options of `tacho analyze`.
struct RunRequest {
  TraceChoice choice;
  std::optional<std::string> rules, model_config, gpu;  // file, file or folder, name
  std::optional<int64_t> tensor_parallel, context_length;
};

// The rows of `slices` to keep: those of a process, of a thread, or of a kind.
struct SliceFilter {
  std::optional<std::string> process, thread, kind;
};

// A run with its traces in memory. Several threads may use it at the same time.
class HeldRun {
 public:
  // Reads and analyses, with all that `tacho analyze --json` computes. Ends with kInterrupted if
  // `progress` is stopped: at the next block of a file, or once the analysis of a file has ended.
  static Result<std::shared_ptr<HeldRun>> Read(const RunRequest& request, RunProgress& progress);

  // What `tacho analyze --json` prints.
  [[nodiscard]] std::string AnalysisJson() const;
  // Files that could not be read: "PATH: why".
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }

  // A table of FrameTables by its name, made at the first call and then kept. kUsage: there is none
  // of that name.
  Result<std::shared_ptr<const Frame>> Table(const std::string& name, std::stop_token stop);
  // The slices that match, made at each call.
  Result<std::shared_ptr<const Frame>> Slices(const SliceFilter& filter, std::stop_token stop);
  // The rows of an SQL query over the tables.
  Result<std::shared_ptr<const Frame>> Query(const std::string& sql, std::stop_token stop);

 private:
  explicit HeldRun(Classifier classifier) : classifier_(std::move(classifier)) {}

  const Classifier classifier_;
  std::vector<std::string> failures_;
  std::mutex mutex_;  // of the members below: QueriedTrace computes when it is asked
  std::unique_ptr<QueriedRun> run_;
  std::vector<std::shared_ptr<const Frame>> tables_;  // by FrameTables
};

}  // namespace tacho
