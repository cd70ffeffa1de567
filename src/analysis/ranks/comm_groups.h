#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/ranks/matched_collectives.h"

namespace tacho {

// The kind of parallelism that a process group serves.
enum class GroupKind : uint8_t { kTensor, kExpert, kPipeline, kData, kOther };
std::string_view GroupKindId(GroupKind kind);  // "TP", "EP", "PP", "DP", ""

// Finds which kind of parallelism a collective belongs to.
class CommGroups {
 public:
  struct Name {
    GroupKind kind = GroupKind::kOther;
    std::string name;  // of the process group; "" if the trace has none
  };

  // `ranks` must outlive the object.
  explicit CommGroups(const std::vector<CommRank>& ranks) : ranks_(ranks) {}

  // Goes by the name of the process group ("tp:0"). If that says nothing, the kernels that dispatch
  // to experts and combine their results are kExpert. Any other collective is classed by the number
  // (tensor, pipeline or data-parallel) in which its ranks differ; kOther if they do not differ in
  // exactly one. Cost: O(1) after the first collective of a rank.
  [[nodiscard]] Name Of(const Collective& collective) const;

 private:
  [[nodiscard]] const CommSeries& SeriesOf(uint32_t rank, uint32_t row) const;
  [[nodiscard]] GroupKind KindByRanks(const Collective& collective) const;

  const std::vector<CommRank>& ranks_;
  // By rank, then row: the index of the kernel's series. Filled when a rank is first asked for.
  mutable std::unordered_map<uint32_t, std::unordered_map<uint32_t, uint32_t>> series_;
};

}  // namespace tacho
