#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/ranks/matched_collectives.h"

namespace tacho {

// Which ranks talk to each other.
enum class GroupKind : uint8_t { kTensor, kExpert, kPipeline, kData, kOther };
std::string_view GroupKindId(GroupKind kind);  // "TP", "EP", "PP", "DP", ""

// Which parallelism a collective belongs to.
class CommGroups {
 public:
  struct Name {
    GroupKind kind = GroupKind::kOther;
    std::string name;  // of the process group; "" if the trace has none
  };

  // `ranks` must outlive it.
  explicit CommGroups(const std::vector<CommRank>& ranks) : ranks_(ranks) {}

  // By the name of its process group ("tp:0"). If that says nothing, dispatch and combine of
  // experts are kExpert. Any other collective has the kind of the one number (tensor, pipeline or
  // data-parallel) in which its ranks differ; kOther if there is not exactly one. Cost: O(1) after
  // the first collective of a rank.
  [[nodiscard]] Name Of(const Collective& collective) const;

 private:
  [[nodiscard]] const CommSeries& SeriesOf(uint32_t rank, uint32_t row) const;
  [[nodiscard]] GroupKind KindByRanks(const Collective& collective) const;

  const std::vector<CommRank>& ranks_;
  // By rank, then row; only of ranks that were asked for.
  mutable std::unordered_map<uint32_t, std::unordered_map<uint32_t, uint32_t>> series_;
};

}  // namespace tacho
