#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/scope.h"
#include "base/parse_number.h"
#include "model/trace.h"

namespace tacho {

// Decides which rows of Trace::gpu count in a scope: those that start inside its window, on its
// device.
class GpuScope {
 public:
  GpuScope(const Trace& trace, const Scope& scope)
      : trace_(trace), scope_(scope), whole_(!scope.window && scope.device.empty()) {
    for (const Stream& stream : trace.words.streams()) {
      of_stream_.push_back(scope.device.empty() || trace.Text(stream.device) == scope.device ? 1
                                                                                             : 0);
    }
  }
  [[nodiscard]] bool OnDevice(size_t row) const {
    return whole_ || of_stream_[Index(trace_.gpu.stream[row])] != 0;
  }
  [[nodiscard]] bool Counts(size_t row) const {
    return whole_ || (OnDevice(row) && scope_.Counts(trace_.gpu.start[row]));
  }

 private:
  const Trace& trace_;
  const Scope& scope_;
  bool whole_;                      // everything counts
  std::vector<uint8_t> of_stream_;  // indexed by StreamId
};

// Orders ids that are mostly numbers ("7" before "13" before "graph").
inline bool IdLess(std::string_view a, std::string_view b) {
  const auto x = ParseWhole<int64_t>(a), y = ParseWhole<int64_t>(b);
  if (x.has_value() != y.has_value()) return x.has_value();
  if (x != y) return x < y;
  return a < b;
}

}  // namespace tacho
