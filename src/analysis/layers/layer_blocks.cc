#include "analysis/layers/layer_blocks.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tacho {
namespace {

constexpr std::array<std::string_view, kLayerBlocks> kLayerBlockIds = {"norm",
                                                                       "qkv",
                                                                       "rope-kv-write",
                                                                       "attention",
                                                                       "state-space",
                                                                       "output-projection",
                                                                       "all-reduce",
                                                                       "mlp-up",
                                                                       "activation",
                                                                       "mlp-down",
                                                                       "router",
                                                                       "experts-up",
                                                                       "experts-down",
                                                                       "experts",
                                                                       "shared-expert",
                                                                       "dispatch",
                                                                       "combine",
                                                                       "other",
                                                                       "input-preparation",
                                                                       "embedding",
                                                                       "final-norm",
                                                                       "lm-head",
                                                                       "sampling",
                                                                       "draft"};

using MaybeBlock = std::optional<LayerBlock>;  // absent: the work has no block of its own

class BlockNamer {
 public:
  BlockNamer(std::span<const LayerRole> roles, std::span<const LayerSpan> layers)
      : roles_(roles), layers_(layers), blocks_(roles.size()) {}

  std::vector<LayerBlock> Name() {
    NameBefore(layers_.front().begin);
    for (const LayerSpan& layer : layers_) {
      NameUntilMixer(layer);
      NameAfterMixer(layer);
      for (size_t i = layer.begin + 1; i < layer.end; ++i) {
        if (roles_[i] == Role::kCopy && blocks_[i - 1] == Block::kCollective)
          blocks_[i] = Block::kCollective;
      }
      ContinueProducts(layer.begin, layer.end);
      FillHoles(layer.begin, layer.end, Block::kOther);
    }
    NameAfter(layers_.back().end);
    ContinueProducts(layers_.back().end, roles_.size());
    FillHoles(layers_.back().end, roles_.size(), Block::kSampling);
    std::vector<LayerBlock> named;
    named.reserve(blocks_.size());
    for (const MaybeBlock& block : blocks_) named.push_back(*block);
    return named;
  }

 private:
  using Role = LayerRole;
  using Block = LayerBlock;

  static bool IsCollective(Role role) {
    return role == Role::kCollective || role == Role::kReduceNorm || role == Role::kTransfer;
  }
  [[nodiscard]] size_t Count(size_t begin, size_t end, auto is) const {
    return static_cast<size_t>(std::count_if(roles_.begin() + static_cast<ptrdiff_t>(begin),
                                             roles_.begin() + static_cast<ptrdiff_t>(end), is));
  }

  // Names the work before the first layer. The first layer begins at index `end`.
  void NameBefore(size_t end) {
    // If no kernel is known as the embedding, it is the last gather before the layer.
    size_t embedding = end;
    for (size_t i = end; i-- > 0 && embedding == end;) {
      if (roles_[i] == Role::kEmbedding) embedding = i;
    }
    for (size_t i = end; i-- > 0 && embedding == end;) {
      if (roles_[i] == Role::kIndex) embedding = i;
    }
    for (size_t i = 0; i < end; ++i)
      blocks_[i] = i < embedding ? Block::kInputPreparation : Block::kEmbedding;
  }

  // Names one piece if it is work that feeds a mixer; returns false if it is not. `product`:
  // whether this piece, or an earlier one of the layer, is a matrix product.
  bool NameBeforeMixer(size_t i, bool product) {
    const Role role = roles_[i];
    if (IsProduct(role)) {
      blocks_[i] = Block::kInputProjection;
    } else if (IsCollective(role)) {
      blocks_[i] = Block::kCollective;
    } else if (role == Role::kNorm) {
      // After a product: the norm of queries and keys.
      blocks_[i] = product ? Block::kRopeAndCache : Block::kNorm;
    } else if (role == Role::kRope || role == Role::kCacheWrite) {
      blocks_[i] = Block::kRopeAndCache;
    }
    return blocks_[i].has_value();
  }

  void NameUntilMixer(const LayerSpan& layer) {
    bool product = false;
    for (size_t i = layer.begin; i < layer.mixer; ++i) {
      product |= IsProduct(roles_[i]);
      NameBeforeMixer(i, product);
    }
    const Block mixer =
        roles_[layer.mixer] == Role::kStateSpace ? Block::kStateSpace : Block::kAttention;
    for (size_t i = layer.mixer; i < layer.mixer_end; ++i) {
      if (!NameBeforeMixer(i, true) && !IsCollective(roles_[i])) blocks_[i] = mixer;
    }
  }

  // The MLP begins with the norm after the mixer's output projection. If there is no such norm, the
  // first matrix product after the mixer is the output projection, and the rest is the MLP.
  void NameAfterMixer(const LayerSpan& layer) {
    size_t mlp = layer.mixer_end;
    bool product = false;
    for (; mlp < layer.end; ++mlp) {
      const Role role = roles_[mlp];
      if (product && (IsNorm(role) || role == Role::kRouting || role == Role::kExperts)) break;
      product |= IsProduct(role);
    }
    if (mlp == layer.end) {
      mlp = layer.mixer_end;
      while (mlp < layer.end && !IsProduct(roles_[mlp])) ++mlp;
      mlp = std::min(mlp + 1, layer.end);
    }
    for (size_t i = layer.mixer_end; i < mlp; ++i) {
      if (IsProduct(roles_[i])) blocks_[i] = Block::kOutputProjection;
      if (IsCollective(roles_[i])) blocks_[i] = Block::kCollective;
      if (roles_[i] == Role::kNorm) blocks_[i] = Block::kNorm;
    }
    const auto is_expert = [](Role role) {
      return role == Role::kExperts || role == Role::kRouting;
    };
    if (Count(mlp, layer.end, is_expert) > 0) {
      NameExperts(mlp, layer.end);
    } else {
      NameMlp(mlp, layer.end);
    }
  }

  void NameMlp(size_t begin, size_t end) {
    const bool has_activation =
        Count(begin, end, [](Role role) { return role == Role::kActivation; }) > 0;
    bool down = false;
    for (size_t i = begin; i < end; ++i) {
      const Role role = roles_[i];
      if (IsProduct(role)) {
        blocks_[i] = down ? Block::kMlpDown : Block::kMlpUp;
        down |= !has_activation;
      } else if (role == Role::kActivation) {
        blocks_[i] = Block::kActivation;
        down = true;
      } else {
        NameCommon(i);
      }
    }
  }

  void NameExperts(size_t begin, size_t end) {
    const size_t experts = Count(begin, end, [](Role role) { return role == Role::kExperts; });
    // The last product before the routing is the router's.
    size_t router = end;
    for (size_t i = begin; i < end && !(roles_[i] == Role::kRouting && router < end); ++i) {
      if (roles_[i] == Role::kExperts) break;
      if (roles_[i] == Role::kProduct) router = i;
    }
    const bool has_activation = HasActivationOfExperts(begin, end);
    size_t seen = 0;
    MaybeBlock of_product;
    bool down = false;  // true after an activation, until a product of experts follows
    for (size_t i = begin; i < end; ++i) {
      if (i > begin && IsProduct(roles_[i - 1])) of_product = blocks_[i - 1];
      switch (roles_[i]) {
        case Role::kProduct:
          blocks_[i] = i == router ? Block::kRouter : Block::kSharedExpert;
          break;
        case Role::kSide:
          blocks_[i] = Block::kSharedExpert;
          break;
        case Role::kRouting:
          blocks_[i] = seen == 0      ? Block::kRouter
                       : experts == 1 ? Block::kExperts
                                      : Block::kExpertsDown;
          break;
        case Role::kExperts:
          if (!has_activation) down = 2 * seen >= experts;
          blocks_[i] = experts == 1 ? Block::kExperts
                       : down       ? Block::kExpertsDown
                                    : Block::kExpertsUp;
          down = false;
          ++seen;
          break;
        case Role::kExchange:
          blocks_[i] = seen == 0 ? Block::kDispatch : Block::kCombine;
          break;
        case Role::kActivation:  // counts for the product before it
          blocks_[i] = of_product;
          down = down || blocks_[i] == Block::kExpertsUp;
          break;
        default:
          NameCommon(i);
      }
    }
  }

  // Whether a product of experts is followed by an activation before the next product.
  [[nodiscard]] bool HasActivationOfExperts(size_t begin, size_t end) const {
    bool experts = false;
    for (size_t i = begin; i < end; ++i) {
      if (roles_[i] == Role::kActivation && experts) return true;
      if (IsProduct(roles_[i])) experts = roles_[i] == Role::kExperts;
    }
    return false;
  }

  void NameCommon(size_t i) {
    if (IsCollective(roles_[i])) blocks_[i] = Block::kCollective;
    if (roles_[i] == Role::kExchange) blocks_[i] = Block::kCollective;
    if (roles_[i] == Role::kNorm) blocks_[i] = Block::kNorm;
    if (roles_[i] == Role::kSide) blocks_[i] = Block::kOther;
  }

  void NameAfter(size_t begin) {
    bool product = false, collective = false;
    for (size_t i = begin; i < roles_.size(); ++i) {
      const Role role = roles_[i];
      if (IsNorm(role) && !product) {
        blocks_[i] = Block::kFinalNorm;
      } else if (IsProduct(role) && !collective) {
        blocks_[i] = Block::kLmHead;
        product = true;
      } else if (IsCollective(role)) {
        blocks_[i] = product ? Block::kLmHead : Block::kFinalNorm;
        collective |= product;
      } else if (product) {
        blocks_[i] = Block::kSampling;
      } else if (role == Role::kSampling) {
        blocks_[i] = Block::kSampling;
      }
    }
  }

  // Work that adds up the parts of a product gets the product's block.
  void ContinueProducts(size_t begin, size_t end) {
    MaybeBlock of_product;
    for (size_t i = begin; i < end; ++i) {
      if (IsProduct(roles_[i])) of_product = blocks_[i];
      if (roles_[i] == Role::kProductPart && of_product) blocks_[i] = of_product;
    }
  }

  // Pieces without a block get that of the next piece; if there is none, that of the piece before.
  void FillHoles(size_t begin, size_t end, Block without) {
    MaybeBlock next;
    for (size_t i = end; i-- > begin;) {
      if (!blocks_[i]) blocks_[i] = next;
      next = blocks_[i];
    }
    MaybeBlock before = without;
    for (size_t i = begin; i < end; ++i) {
      if (!blocks_[i]) blocks_[i] = before;
      before = blocks_[i];
    }
  }

  std::span<const Role> roles_;
  std::span<const LayerSpan> layers_;
  std::vector<MaybeBlock> blocks_;
};

}  // namespace

std::string_view LayerBlockId(LayerBlock block) {
  return kLayerBlockIds.at(static_cast<size_t>(block));
}

std::vector<LayerBlock> BlocksOf(std::span<const LayerRole> roles,
                                 std::span<const LayerSpan> layers) {
  return BlockNamer(roles, layers).Name();
}

}  // namespace tacho
