#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "analysis/scope.h"
#include "model/trace.h"

namespace tacho {

// Which rows of Trace::gpu count in a scope: those that start inside, on the device it names.
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
  std::vector<uint8_t> of_stream_;  // by StreamId
};

// Orders ids that are mostly numbers ("7" before "13" before "graph").
inline bool IdLess(std::string_view a, std::string_view b) {
  int64_t x = 0, y = 0;
  const auto number = [](std::string_view text, int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  const bool a_number = number(a, x), b_number = number(b, y);
  if (a_number != b_number) return a_number;
  if (a_number && x != y) return x < y;
  return a < b;
}

}  // namespace tacho
