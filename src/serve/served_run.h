#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/names/classifier.h"
#include "base/result.h"
#include "serve/event_hub.h"
#include "serve/start_place.h"
#include "view/viewed_run.h"

namespace tacho {

// What is known before reading begins.
struct ServedRunInfo {
  std::string version;        // tacho's version
  std::string title;          // title of the page: the paths
  std::string command_paths;  // the paths as a shell needs them; "" if they cannot be typed
  std::vector<std::string> paths = {};  // paths of the traces, in the order of the ranks
  uint64_t stored_bytes = 0;            // size of all traces together; 0: unknown
  ServedStart start = {};
};

// A run that is served while it is still being read. Sends each change to the pages at once
// (EventHub). Thread-safe.
class ServedRun {
 public:
  // `classifier` must outlive this object.
  ServedRun(ServedRunInfo info, const Classifier& classifier);

  // These are for the reader of the traces.
  void Begin(size_t rank);
  void AddBytes(uint64_t stored_bytes);
  void Add(size_t rank, std::unique_ptr<ViewedRank> read);
  // Adds a rank for another trace of a file that holds several, and returns its number.
  size_t Append(std::string path);
  void Fail(size_t rank, std::string why);
  // Call it once all ranks were read. `run` may hold fewer traces than there are ranks.
  void Finish(std::shared_ptr<const RunAnalysis> run);
  // Call this instead if there will be no analysis.
  void Finish(Error why);
  // Tells the pages that a file was removed or changed after it was read.
  void Gone(const std::string& path, const std::string& why);

  // These are for the answers to requests.
  [[nodiscard]] const ServedRunInfo& info() const { return info_; }
  [[nodiscard]] const Classifier& classifier() const { return classifier_; }
  [[nodiscard]] const ViewedRun& view() const { return view_; }
  [[nodiscard]] EventHub& events() { return events_; }
  [[nodiscard]] uint64_t read_bytes() const { return read_bytes_; }
  // Null before Finish, and after a Finish with an error.
  [[nodiscard]] std::shared_ptr<const RunAnalysis> analysis() const;
  [[nodiscard]] std::optional<Error> error() const;
  // Where the page begins. Absent if the command line did not say, or if the place is not known
  // yet: a time is known at once, all other places only with the analysis.
  [[nodiscard]] std::optional<StartPlace> start() const;

 private:
  [[nodiscard]] std::vector<std::string> RankEntries(const std::vector<size_t>& ranks) const;
  void SendRanks(const std::vector<size_t>& changed);
  void SendProgress();
  void SendDone();

  const ServedRunInfo info_;
  const Classifier& classifier_;
  ViewedRun view_;
  EventHub events_;
  std::atomic<uint64_t> read_bytes_ = 0;
  std::atomic<int64_t> progress_due_ns_ = 0;
  mutable std::mutex mutex_;
  std::shared_ptr<const RunAnalysis> analysis_;
  std::optional<Error> error_;
  std::optional<StartPlace> start_;
};

}  // namespace tacho
