#include "analysis/ranks/comm_groups.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tacho {
namespace {

// The kind that a process group's name says: "tp", "TP:0", "ep_group". nullopt if the name says no
// kind ("0", "default_pg").
std::optional<GroupKind> KindByName(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, GroupKind>, 4> kKinds = {{
      {"tp", GroupKind::kTensor},
      {"ep", GroupKind::kExpert},
      {"pp", GroupKind::kPipeline},
      {"dp", GroupKind::kData},
  }};
  if (name.size() < 2) return std::nullopt;
  const auto letter = [&](size_t i) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  };
  for (const auto& [prefix, kind] : kKinds) {
    if (letter(0) != prefix[0] || letter(1) != prefix[1]) continue;
    if (name.size() == 2 || std::isalpha(static_cast<unsigned char>(name[2])) == 0) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::string_view GroupKindId(GroupKind kind) {
  constexpr std::array<std::string_view, 5> kIds = {"TP", "EP", "PP", "DP", ""};
  return kIds[static_cast<size_t>(kind)];
}

const CommSeries& CommGroups::SeriesOf(uint32_t rank, uint32_t row) const {
  const std::vector<CommSeries>& all = *ranks_[rank].series;
  const auto [at, is_new] = series_.try_emplace(rank);
  if (is_new) {
    for (uint32_t i = 0; i < all.size(); ++i) {
      for (const CommKernel& kernel : all[i].kernels) at->second.emplace(kernel.row, i);
    }
  }
  return all[at->second.at(row)];
}

GroupKind CommGroups::KindByRanks(const Collective& collective) const {
  std::set<std::optional<int64_t>> tensor, pipeline, data;
  for (const Collective::Part& part : collective.parts) {
    const RankIdentity& identity = ranks_[part.rank].identity;
    tensor.insert(identity.tensor);
    pipeline.insert(identity.pipeline);
    data.insert(identity.data_parallel);
  }
  const bool by_tensor = tensor.size() > 1, by_pipeline = pipeline.size() > 1,
             by_data = data.size() > 1;
  if (by_tensor + by_pipeline + by_data != 1) return GroupKind::kOther;
  return by_tensor ? GroupKind::kTensor : by_pipeline ? GroupKind::kPipeline : GroupKind::kData;
}

CommGroups::Name CommGroups::Of(const Collective& collective) const {
  const Collective::Part& first = collective.parts.front();
  const CommSeries& series = SeriesOf(first.rank, first.row);
  Name name{GroupKind::kOther, series.group};
  if (const auto kind = KindByName(series.group))
    name.kind = *kind;
  else if (series.category == "comm.moe_all_to_all")
    name.kind = GroupKind::kExpert;
  else
    name.kind = KindByRanks(collective);
  return name;
}

}  // namespace tacho
