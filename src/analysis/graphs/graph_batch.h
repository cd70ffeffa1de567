#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/graphs/replays.h"

namespace tacho {

// For how many tokens a graph was captured: the grid of its kernels that have one block for each
// token (rules/token_blocks.rules).
class GraphBatches {
 public:
  explicit GraphBatches(const Trace& trace) : trace_(trace) {}
  // nullopt: no such kernel has a grid, or two grids differ. Cost: O(rows of the graph).
  std::optional<int64_t> BatchOf(const Replays& replays, const ReplayedGraph& graph);

 private:
  enum class IsByToken : uint8_t { kUnknown, kNo, kYes };

  bool HasABlockForEachToken(StringId name);

  const Trace& trace_;
  std::vector<IsByToken> names_;  // by StringId
};

}  // namespace tacho
