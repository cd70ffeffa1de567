#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/device/launches.h"
#include "model/trace.h"

namespace tacho {

// The GPU rows of each graph launch: those of calls[i] are rows[begin[i], begin[i + 1]).
struct GraphWork {
  std::vector<uint32_t> calls;  // rows of Trace::host_calls
  std::vector<uint32_t> rows;   // of each call in the order of the file
  std::vector<size_t> begin;

  [[nodiscard]] std::span<const uint32_t> Of(size_t i) const {
    return std::span(rows).subspan(begin[i], begin[i + 1] - begin[i]);
  }
};
// Collects the work of `calls`, which launch graphs, in their order. Cost: O(n); 4 bytes a row and
// a call of the trace.
GraphWork CollectGraphWork(const Trace& trace, const LaunchLinks& links,
                           std::vector<uint32_t> calls);

}  // namespace tacho
