#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/layers/layer_blocks.h"
#include "base/random.h"

namespace tacho {
namespace {

using Role = LayerRole;
using Block = LayerBlock;
using testing::ElementsAre;
using testing::IsEmpty;

// The work of a step with the truth of each piece.
struct KnownStep {
  std::vector<Role> roles;
  std::vector<Block> blocks;
  std::vector<LayerSpan> layers;

  void Add(Role role, Block block) {
    roles.push_back(role);
    blocks.push_back(block);
  }
};

// How a random model is made.
struct Model {
  size_t layers = 0, dense_first = 0;  // MoE models may begin with dense layers
  bool moe = false, shared_expert = false, exchange = false, activation = true, latent = false;
  bool qk_norm = false, merge = false, parallel = false, fused_norm = false, quantized = false;
  size_t state_space_every = 0;  // 0: no layer; n: all but each nth layer
};

void AddMixer(const Model& model, size_t layer, KnownStep& step) {
  LayerSpan& span = step.layers.back();
  const bool state_space =
      model.state_space_every > 0 && (layer + 1) % model.state_space_every != 0;
  step.Add(model.fused_norm && layer > 0 ? Role::kReduceNorm : Role::kNorm,
           model.fused_norm && layer > 0 ? Block::kCollective : Block::kNorm);
  if (model.quantized) step.Add(Role::kOther, Block::kInputProjection);
  step.Add(Role::kProduct, Block::kInputProjection);
  if (model.latent && !state_space) {
    step.Add(Role::kNorm, Block::kRopeAndCache);
    step.Add(Role::kProduct, Block::kInputProjection);
    step.Add(Role::kProduct, Block::kInputProjection);
  }
  if (!state_space) {
    if (model.qk_norm) step.Add(Role::kNorm, Block::kRopeAndCache);
    step.Add(Role::kRope, Block::kRopeAndCache);
    step.Add(Role::kCacheWrite, Block::kRopeAndCache);
  }
  span.mixer = step.roles.size();
  const Block mixer = state_space ? Block::kStateSpace : Block::kAttention;
  step.Add(state_space ? Role::kStateSpace : Role::kMixer, mixer);
  if (state_space) step.Add(Role::kStateSpace, mixer);
  if (model.merge && !state_space) step.Add(Role::kMixerPart, mixer);
  span.mixer_end = step.roles.size();
  if (model.quantized) step.Add(Role::kOther, Block::kOutputProjection);
  step.Add(Role::kProduct, Block::kOutputProjection);
}

void AddMlp(const Model& model, size_t layer, KnownStep& step) {
  if (model.fused_norm) {
    step.Add(Role::kReduceNorm, Block::kCollective);
  } else if (!model.parallel) {
    if (model.quantized) step.Add(Role::kCopy, Block::kCollective);
    step.Add(Role::kCollective, Block::kCollective);
    if (model.quantized) step.Add(Role::kCopy, Block::kCollective);
    step.Add(Role::kNorm, Block::kNorm);
  }
  if (!model.moe || layer < model.dense_first) {
    step.Add(Role::kProduct, Block::kMlpUp);
    if (model.activation) step.Add(Role::kActivation, Block::kActivation);
    step.Add(Role::kProduct, Block::kMlpDown);
  } else {
    step.Add(Role::kProduct, Block::kRouter);
    step.Add(Role::kRouting, Block::kRouter);
    if (model.exchange) step.Add(Role::kExchange, Block::kDispatch);
    step.Add(Role::kExperts, Block::kExpertsUp);
    step.Add(Role::kActivation, Block::kExpertsUp);
    step.Add(Role::kExperts, Block::kExpertsDown);
    if (model.exchange) step.Add(Role::kExchange, Block::kCombine);
    if (model.shared_expert) {
      step.Add(Role::kProduct, Block::kSharedExpert);
      step.Add(Role::kActivation, Block::kSharedExpert);
      step.Add(Role::kProduct, Block::kSharedExpert);
    }
  }
  if (!model.fused_norm) step.Add(Role::kCollective, Block::kCollective);
}

KnownStep StepOf(const Model& model) {
  KnownStep step;
  for (int i = 0; i < 3; ++i) step.Add(Role::kOther, Block::kInputPreparation);
  step.Add(Role::kIndex, Block::kInputPreparation);
  step.Add(Role::kEmbedding, Block::kEmbedding);
  step.Add(Role::kCollective, Block::kEmbedding);
  for (size_t layer = 0; layer < model.layers; ++layer) {
    step.layers.push_back({step.roles.size(), 0, 0, 0});
    AddMixer(model, layer, step);
    AddMlp(model, layer, step);
    step.layers.back().end = step.roles.size();
  }
  step.Add(model.fused_norm ? Role::kReduceNorm : Role::kNorm, Block::kFinalNorm);
  step.Add(Role::kIndex, Block::kLmHead);
  step.Add(Role::kProduct, Block::kLmHead);
  step.Add(Role::kCollective, Block::kLmHead);
  step.Add(Role::kSampling, Block::kSampling);
  step.Add(Role::kOther, Block::kSampling);
  return step;
}

// Whether each layer but the first and the last is like another one.
bool Repeats(const Model& model) {
  if (model.layers < 4) return false;
  std::map<std::pair<bool, bool>, size_t> alike;
  const auto kind_of = [&](size_t layer) {
    return std::pair(model.state_space_every > 0 && (layer + 1) % model.state_space_every != 0,
                     model.moe && layer >= model.dense_first);
  };
  // With fused norms the first layer is like no other.
  for (size_t layer = model.fused_norm ? 1 : 0; layer < model.layers; ++layer)
    ++alike[kind_of(layer)];
  for (size_t layer = 1; layer + 1 < model.layers; ++layer) {
    if (alike[kind_of(layer)] < 2) return false;
  }
  return true;
}

Model RandomModel(Random& random) {
  const auto chance = [&](int64_t percent) { return random.Between(0, 99) < percent; };
  Model model;
  model.layers = static_cast<size_t>(random.Between(2, 96));
  model.moe = chance(40);
  model.dense_first = chance(50) ? static_cast<size_t>(random.Between(0, 3)) : 0;
  model.shared_expert = chance(30);
  model.exchange = chance(40);
  model.activation = chance(80);
  model.latent = chance(20);
  model.qk_norm = chance(30);
  model.merge = chance(40);
  model.fused_norm = chance(25);
  model.parallel = !model.fused_norm && !model.moe && chance(10);
  model.quantized = chance(30);
  if (!model.latent && chance(25))
    model.state_space_every = static_cast<size_t>(random.Between(2, 8));
  return model;
}

TEST(Layers, OfRandomModels) {
  Random random(34);
  for (int i = 0; i < 400; ++i) {
    const Model model = RandomModel(random);
    const KnownStep step = StepOf(model);
    const std::vector<LayerSpan> found = FindLayerSpans(step.roles);
    ASSERT_EQ(found.size(), step.layers.size()) << "model " << i;
    for (size_t layer = 0; layer < found.size(); ++layer)
      ASSERT_EQ(found[layer], step.layers[layer]) << "model " << i << ", layer " << layer;
    if (Repeats(model)) {
      ASSERT_TRUE(AreRegular(step.roles, found)) << "model " << i;
    }
    const std::vector<LayerBlock> blocks = BlocksOf(step.roles, found);
    for (size_t item = 0; item < blocks.size(); ++item)
      ASSERT_EQ(LayerBlockId(blocks[item]), LayerBlockId(step.blocks[item]))
          << "model " << i << ", piece " << item;
  }
}

std::vector<Role> Times(int count, const std::vector<Role>& layer) {
  std::vector<Role> roles;
  for (int i = 0; i < count; ++i) roles.insert(roles.end(), layer.begin(), layer.end());
  return roles;
}
std::vector<Role> Joined(const std::vector<std::vector<Role>>& parts) {
  std::vector<Role> roles;
  for (const std::vector<Role>& part : parts) roles.insert(roles.end(), part.begin(), part.end());
  return roles;
}
bool AreFound(const std::vector<Role>& roles) {
  const std::vector<LayerSpan> layers = FindLayerSpans(roles);
  return !layers.empty() && AreRegular(roles, layers);
}
const std::vector<Role> kDense = {Role::kNorm,    Role::kProduct,   Role::kRope,
                                  Role::kMixer,   Role::kProduct,   Role::kCollective,
                                  Role::kNorm,    Role::kProduct,   Role::kActivation,
                                  Role::kProduct, Role::kCollective};
const std::vector<Role> kLogits = {Role::kNorm, Role::kIndex, Role::kProduct, Role::kSampling};

// A shared expert on a second stream mixes with the other work differently in each layer.
TEST(Layers, WithWorkOnASecondStream) {
  const std::vector<Role> attention = {Role::kNorm,  Role::kProduct, Role::kRope,
                                       Role::kMixer, Role::kProduct, Role::kNorm};
  const std::vector<Role> experts = {Role::kProduct, Role::kRouting, Role::kExperts,
                                     Role::kActivation, Role::kExperts};
  std::vector<Role> roles = {Role::kEmbedding};
  for (size_t layer = 0; layer < 5; ++layer) {
    roles.insert(roles.end(), attention.begin(), attention.end());
    std::vector<Role> mixed = experts;
    mixed.insert(mixed.begin() + static_cast<ptrdiff_t>(layer), Role::kSide);
    mixed.insert(mixed.begin() + static_cast<ptrdiff_t>(layer), Role::kSide);
    roles.insert(roles.end(), mixed.begin(), mixed.end());
  }
  roles.insert(roles.end(), kLogits.begin(), kLogits.end());
  ASSERT_TRUE(AreFound(roles));
  const std::vector<LayerSpan> layers = FindLayerSpans(roles);
  EXPECT_EQ(layers.size(), 5u);
  const std::vector<Block> blocks = BlocksOf(roles, layers);
  for (size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] == Role::kSide) {
      EXPECT_EQ(blocks[i], Block::kSharedExpert);
    }
  }
}

TEST(Layers, OfTwoModelsInOneStepAreNotTrusted) {
  const std::vector<Role> embedding = {Role::kOther, Role::kEmbedding};
  EXPECT_TRUE(AreFound(Joined({embedding, Times(6, kDense), kLogits})));
  // A draft model after the logits; an encoder of pictures before the embedding.
  EXPECT_FALSE(
      AreFound(Joined({embedding, Times(6, kDense), kLogits, {Role::kProduct}, kDense, kLogits})));
  const std::vector<Role> picture = {Role::kNorm,       Role::kProduct, Role::kMixer,
                                     Role::kProduct,    Role::kNorm,    Role::kProduct,
                                     Role::kActivation, Role::kProduct};
  EXPECT_FALSE(AreFound(Joined({{Role::kProduct},
                                Times(3, picture),
                                {Role::kProduct},
                                embedding,
                                Times(6, kDense),
                                kLogits})));
  // A product before the first norm changes nothing.
  EXPECT_EQ(FindLayerSpans(Joined({{Role::kProduct}, Times(6, kDense), kLogits}))[1].begin,
            1 + kDense.size());
}

// Cross attention: the first of two mixers of a layer has no MLP after it.
TEST(Layers, WithTwoMixersEachAreNotTrusted) {
  const std::vector<Role> self = {Role::kNorm, Role::kProduct, Role::kMixer, Role::kProduct};
  EXPECT_FALSE(AreFound(Joined({Times(6, Joined({self, kDense})), kLogits})));
}

// What lies between two mixers of a layer is no attention; a reduction of split products is theirs.
TEST(Layers, BlocksBetweenMixersAndOfSplitProducts) {
  const std::vector<Role> layer = {
      Role::kNorm,        Role::kProduct, Role::kMixer,       Role::kProduct, Role::kCacheWrite,
      Role::kMixer,       Role::kProduct, Role::kProductPart, Role::kNorm,    Role::kProduct,
      Role::kProductPart, Role::kRouting, Role::kSide,        Role::kExperts, Role::kActivation,
      Role::kExperts,     Role::kExperts, Role::kActivation,  Role::kExperts};
  const std::vector<Role> roles = Times(4, layer);
  const std::vector<LayerSpan> layers = FindLayerSpans(roles);
  ASSERT_EQ(layers.size(), 4u);
  std::vector<Block> blocks = BlocksOf(roles, layers);
  blocks.resize(layer.size());
  using enum LayerBlock;
  EXPECT_THAT(blocks, ElementsAre(kNorm, kInputProjection, kAttention, kInputProjection,
                                  kRopeAndCache, kAttention, kOutputProjection, kOutputProjection,
                                  kNorm, kRouter, kRouter, kRouter, kSharedExpert, kExpertsUp,
                                  kExpertsUp, kExpertsDown, kExpertsUp, kExpertsUp, kExpertsDown));
}

// Several mixers without a norm and a product between them are one layer's: prefill and decode in
// a mixed step, the kernels of a state space.
TEST(Layers, MayHaveSeveralMixers) {
  std::vector<Role> roles;
  for (int layer = 0; layer < 3; ++layer) {
    for (const Role role : {Role::kNorm, Role::kProduct, Role::kMixer, Role::kOther, Role::kMixer,
                            Role::kProduct, Role::kNorm, Role::kProduct, Role::kProduct})
      roles.push_back(role);
  }
  const std::vector<LayerSpan> layers = FindLayerSpans(roles);
  EXPECT_THAT(layers, ElementsAre(LayerSpan{0, 2, 5, 9}, LayerSpan{9, 11, 14, 18},
                                  LayerSpan{18, 20, 23, 27}));
}

TEST(Layers, NeedARepetition) {
  EXPECT_THAT(FindLayerSpans({}), IsEmpty());
  EXPECT_THAT(FindLayerSpans(std::vector{Role::kNorm, Role::kProduct, Role::kMixer}), IsEmpty());
  EXPECT_THAT(FindLayerSpans(std::vector{Role::kMixer, Role::kMixer, Role::kMixer}), IsEmpty());
  EXPECT_THAT(FindLayerSpans(std::vector{Role::kProduct, Role::kNorm, Role::kProduct}), IsEmpty());
}

// Whatever the kernels are: layers are in order, hold their mixers, and each piece has a block that
// belongs where it lies.
TEST(Layers, OfAnythingAreInOrder) {
  Random random(35);
  for (int i = 0; i < 3'000; ++i) {
    std::vector<Role> roles(static_cast<size_t>(random.Between(0, 60)));
    for (Role& role : roles)
      role = static_cast<Role>(random.Between(0, static_cast<int64_t>(Role::kSampling)));
    const std::vector<LayerSpan> layers = FindLayerSpans(roles);
    if (layers.empty()) continue;
    size_t at = 0;
    for (const LayerSpan& layer : layers) {
      ASSERT_LE(at, layer.begin);
      ASSERT_LE(layer.begin, layer.mixer);
      ASSERT_LT(layer.mixer, layer.mixer_end);
      ASSERT_LE(layer.mixer_end, layer.end);
      at = layer.end;
    }
    ASSERT_LE(at, roles.size());
    const std::vector<LayerBlock> blocks = BlocksOf(roles, layers);
    ASSERT_EQ(blocks.size(), roles.size());
    for (size_t item = 0; item < blocks.size(); ++item) {
      const bool inside = item >= layers.front().begin && item < layers.back().end;
      ASSERT_EQ(IsInLayer(blocks[item]), inside) << i << ", piece " << item;
    }
  }
}

}  // namespace
}  // namespace tacho
