#include "analysis/layers/layer_roles.h"

#include <string_view>

namespace tacho {
namespace {

struct RoleRule {
  std::string_view category;  // a category, or a group (the part before the dot)
  LayerRole role;
};
constexpr RoleRule kRoleRules[] = {
    {"attention.metadata", LayerRole::kOther},
    {"attention.merge", LayerRole::kMixerPart},
    {"attention.softmax", LayerRole::kMixerPart},
    {"attention", LayerRole::kMixer},
    {"ssm", LayerRole::kStateSpace},
    {"norm", LayerRole::kNorm},
    {"reduce", LayerRole::kReduction},
    {"comm.fused", LayerRole::kReduceNorm},
    {"comm.moe_all_to_all", LayerRole::kExchange},
    {"comm.point_to_point", LayerRole::kTransfer},
    {"comm", LayerRole::kCollective},
    {"gemm", LayerRole::kProduct},
    {"moe.gemm", LayerRole::kExperts},
    {"moe.routing", LayerRole::kRouting},
    {"rope", LayerRole::kRope},
    {"kv_cache", LayerRole::kCacheWrite},
    {"activation", LayerRole::kActivation},
    {"memory.copy", LayerRole::kCopy},
    {"embedding", LayerRole::kEmbedding},
    {"index", LayerRole::kIndex},
    {"sampling", LayerRole::kSampling},
    {"softmax", LayerRole::kSampling},
    {"sort", LayerRole::kSampling},
    {"random", LayerRole::kSampling},
};

LayerRole RoleOf(std::string_view category) {
  for (const RoleRule& rule : kRoleRules) {
    if (category.starts_with(rule.category) &&
        (category.size() == rule.category.size() || category[rule.category.size()] == '.'))
      return rule.role;
  }
  return LayerRole::kOther;
}

}  // namespace

bool IsProductPart(std::string_view name) {
  return name.find("splitKreduce") != std::string_view::npos ||
         name.find("PostGSU") != std::string_view::npos;
}

std::vector<LayerRole> RolesOf(const std::vector<std::string>& categories) {
  std::vector<LayerRole> roles;
  roles.reserve(categories.size());
  for (const std::string& category : categories) roles.push_back(RoleOf(category));
  return roles;
}

}  // namespace tacho
