#include "model/rank_identity.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tacho {
namespace {

void AddPart(std::string& name, const std::string& part) {
  if (part.empty()) return;
  name += (name.empty() ? "" : " ") + part;
}

}  // namespace

std::string RankIdentity::RankName() const {
  std::string name;
  AddPart(name, worker);
  const auto add = [&](const char* what, const std::optional<int64_t>& number) {
    if (number) AddPart(name, what + std::to_string(*number));
  };
  add("DP", data_parallel);
  add("PP", pipeline);
  add("TP", tensor);
  const bool alone = world_size == 1 && !name.empty();
  if (!tensor && !pipeline && !alone) add("rank ", rank);
  return name;
}

std::string RankIdentity::Name() const {
  std::string name = RankName();
  AddPart(name, stage);
  return name;
}

bool ComesBefore(const RankIdentity& a, const RankIdentity& b) {
  const auto key = [](const RankIdentity& id) {
    const auto number = [](const std::optional<int64_t>& value) {
      return value.value_or(std::numeric_limits<int64_t>::max());
    };
    // Shorter names come first, so that "w2" stands before "w10".
    return std::tuple(id.worker.empty(), id.worker.size(), std::string_view(id.worker),
                      number(id.data_parallel), number(id.rank), number(id.pipeline),
                      number(id.tensor), id.stage == "decode");
  };
  return key(a) < key(b);
}

void LeaveOutSingles(std::span<RankIdentity* const> identities) {
  for (const auto part :
       {&RankIdentity::data_parallel, &RankIdentity::pipeline, &RankIdentity::tensor}) {
    if (std::ranges::any_of(identities,
                            [&](const RankIdentity* id) { return (id->*part).value_or(0) > 0; }))
      continue;
    for (RankIdentity* id : identities) (id->*part).reset();
  }
}

}  // namespace tacho
