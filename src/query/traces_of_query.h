#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/queried_trace.h"
#include "run/read_run.h"

namespace tacho {

// Keeps the traces that ReadRun reads, for queries. `classifier` must outlive the traces.
class TracesOfQuery : public TraceKeeper {
 public:
  explicit TracesOfQuery(const Classifier& classifier) : classifier_(classifier) {}

  void OnTrace(size_t, const std::string& path, std::unique_ptr<const Trace> trace,
               const PreparedTrace& prepared, const std::optional<InFlight>& in_flight) override {
    auto kept =
        std::make_unique<QueriedTrace>(path, std::move(trace), prepared, classifier_, in_flight);
    const std::lock_guard lock(mutex_);
    traces_.push_back(std::move(kept));
  }

  std::vector<std::unique_ptr<QueriedTrace>> Take() { return std::move(traces_); }

 private:
  const Classifier& classifier_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<QueriedTrace>> traces_;
};

}  // namespace tacho
