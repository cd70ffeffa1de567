#include "analysis/compare/block_changes.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "base/random.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint32_t kLayers = 8;
constexpr double kSpread = 1;

// The work of a block in each layer, or outside of them.
struct Work {
  LayerBlock block;
  bool in_layer;
  int64_t device_ns, gap_ns, overlap_ns;
};
const std::vector<Work> kModel = {
    {LayerBlock::kEmbedding, false, 2000, 100, 0}, {LayerBlock::kNorm, true, 1500, 800, 0},
    {LayerBlock::kAttention, true, 9000, 700, 0},  {LayerBlock::kSharedExpert, true, 1000, 0, 6000},
    {LayerBlock::kExperts, true, 20000, 900, 0},   {LayerBlock::kSampling, false, 8000, 2000, 0}};

// What one side does otherwise than kModel.
struct Otherwise {
  std::map<LayerBlock, double> factor;      // of the device time
  std::map<uint32_t, double> in_attention;  // factor by layer
  bool serial = false;                      // overlap becomes device time
};

BatchBlocks StepsOf(const StepBatch& batch, int steps, Random& random, const Otherwise& otherwise) {
  BatchBlockSums sums(kLayers);
  for (int step = 0; step < steps; ++step) {
    const double noise = 1 + 0.02 * random.Normal();
    const auto add = [&](const Work& work, size_t layer) {
      double factor = noise * static_cast<double>(batch.most) / 8 * (1 + 0.03 * random.Normal());
      if (const auto of = otherwise.factor.find(work.block); of != otherwise.factor.end())
        factor *= of->second;
      const auto of_layer = otherwise.in_attention.find(static_cast<uint32_t>(layer));
      if (work.block == LayerBlock::kAttention && of_layer != otherwise.in_attention.end())
        factor *= of_layer->second;
      const auto times = [&](int64_t ns) {
        return DurationNs{std::llround(factor * static_cast<double>(ns))};
      };
      const int64_t overlap = otherwise.serial ? 0 : work.overlap_ns;
      sums.Add(layer, work.block, times(work.device_ns + work.overlap_ns - overlap),
               times(work.gap_ns), times(overlap));
    };
    for (const Work& work : kModel) {
      if (!work.in_layer && work.block == LayerBlock::kEmbedding) add(work, kLayers);
    }
    for (size_t layer = 0; layer < kLayers; ++layer) {
      for (const Work& work : kModel) {
        if (work.in_layer) add(work, layer);
      }
    }
    add(kModel.back(), kLayers);
    sums.EndStep();
  }
  return sums.Finish(batch);
}

constexpr StepBatch kSmall{Phase::kDecode, 8}, kLarge{Phase::kDecode, 16};
const SharedBatches kBatches = {{kSmall, {0.5, 0}}, {kLarge, {0.5, 0}}};

TraceAnalysis TraceOf(uint64_t seed, const Otherwise& otherwise = {}) {
  Random random(seed, 1);
  TraceAnalysis trace;
  trace.layers.state = LayersState::kFound;
  trace.layers.count = kLayers;
  PhaseLayers& phase = trace.layers.phases.emplace_back();
  phase.phase = Phase::kDecode;
  phase.batches = {StepsOf(kSmall, 40, random, otherwise), StepsOf(kLarge, 20, random, otherwise)};
  return trace;
}

BlocksChange BlocksBetween(const std::vector<TraceAnalysis>& base,
                           const std::vector<TraceAnalysis>& now) {
  ComparedRanks ranks;
  for (const TraceAnalysis& trace : base) ranks.base.push_back({&trace});
  for (const TraceAnalysis& trace : now) ranks.now.push_back({&trace});
  return CompareBlocks(ranks, Phase::kDecode, kBatches, kSpread);
}

std::vector<LayerBlock> BeyondNoise(const BlocksChange& change) {
  std::vector<LayerBlock> blocks;
  for (const BlockChange& block : change.blocks) {
    if (block.IsBeyondNoise()) blocks.push_back(block.block);
  }
  return blocks;
}

void ExpectToAddUp(const BlocksChange& change) {
  Change device, gap, overlap;
  for (const BlockChange& block : change.blocks) {
    for (const auto& [sum, part] :
         {std::pair(&device, &block.device), {&gap, &block.gap}, {&overlap, &block.overlap}}) {
      sum->base += part->base;
      sum->now += part->now;
    }
  }
  for (const auto member : {&Change::base, &Change::now}) {
    EXPECT_NEAR(device.*member, change.device.*member, 1e-6);
    EXPECT_NEAR(gap.*member, change.gap.*member, 1e-6);
    EXPECT_NEAR(overlap.*member, change.overlap.*member, 1e-6);
    EXPECT_NEAR(device.*member + gap.*member, change.span.*member, 1e-6);
    EXPECT_NEAR(device.*member + overlap.*member, change.work.*member, 1e-6);
  }
}

TEST(CompareBlocks, ATraceDoesNotDifferFromItself) {
  const BlocksChange change = BlocksBetween({TraceOf(1)}, {TraceOf(1)});
  ASSERT_TRUE(change.compared());
  EXPECT_EQ(change.blocks.size(), kModel.size());
  ExpectToAddUp(change);
  for (const BlockChange& block : change.blocks) {
    EXPECT_EQ(block.device.difference(), 0);
    EXPECT_EQ(block.gap.difference(), 0);
    EXPECT_EQ(block.overlap.difference(), 0);
  }
  EXPECT_THAT(BeyondNoise(change), IsEmpty());
}

// Base's weights hold for both sides: 40 small steps and 20 of twice the length.
TEST(CompareBlocks, MeansAtEqualBatch) {
  const BlocksChange change = BlocksBetween({TraceOf(1)}, {TraceOf(2)});
  EXPECT_THAT(change.steps, ElementsAre(60, 60));
  for (const BlockChange& block : change.blocks) {
    if (block.block != LayerBlock::kExperts) continue;
    EXPECT_EQ(block.layers, kLayers);
    EXPECT_NEAR(block.device.base, 20000.0 * kLayers * (40 + 2 * 20) / 60, 5000);
  }
}

TEST(CompareBlocks, PairsThatDoNotDifferShowNothing) {
  int any = 0;
  constexpr int kPairs = 200;
  for (uint64_t pair = 0; pair < kPairs; ++pair) {
    const BlocksChange change = BlocksBetween({TraceOf(2 * pair)}, {TraceOf(2 * pair + 1)});
    ExpectToAddUp(change);
    any += BeyondNoise(change).empty() && !change.gap.IsBeyondNoise() ? 0 : 1;
  }
  EXPECT_LE(any, kPairs / 50);
}

TEST(CompareBlocks, AChangedBlockIsFoundAndNoOther) {
  Otherwise slower;
  slower.factor[LayerBlock::kAttention] = 1.1;
  for (uint64_t pair = 0; pair < 20; ++pair) {
    const BlocksChange change = BlocksBetween({TraceOf(2 * pair)}, {TraceOf(2 * pair + 1, slower)});
    ExpectToAddUp(change);
    EXPECT_THAT(BeyondNoise(change), ElementsAre(LayerBlock::kAttention));
    EXPECT_THAT(change.blocks.front().OddLayers(), IsEmpty());
    const Change& device = change.blocks.front().device;
    EXPECT_NEAR(device.difference(), 0.1 * 9000 * kLayers * 4 / 3, *device.half_width);
  }
}

TEST(CompareBlocks, TheOddLayerIsNamed) {
  Otherwise odd;
  odd.in_attention[5] = 1.5;
  const BlocksChange change = BlocksBetween({TraceOf(1)}, {TraceOf(2, odd)});
  EXPECT_THAT(BeyondNoise(change), ElementsAre(LayerBlock::kAttention));
  const auto layers = change.blocks.front().OddLayers();
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].index, 5u);
  EXPECT_NEAR(layers[0].device.difference(), 0.5 * 9000 * 4 / 3, 500);
}

TEST(CompareBlocks, LostOverlapIsDeviceTimeOfItsBlock) {
  Otherwise serial;
  serial.serial = true;
  const BlocksChange change = BlocksBetween({TraceOf(1)}, {TraceOf(2, serial)});
  ExpectToAddUp(change);
  EXPECT_THAT(BeyondNoise(change), ElementsAre(LayerBlock::kSharedExpert));
  EXPECT_FALSE(change.work.IsBeyondNoise());
  EXPECT_TRUE(change.overlap.IsBeyondNoise());
  EXPECT_NEAR(change.overlap.difference(), -6000.0 * kLayers * 4 / 3, *change.overlap.half_width);
}

TEST(CompareBlocks, TheOrderOfRunsDoesNotMatter) {
  const TraceAnalysis a = TraceOf(1), b = TraceOf(2), c = TraceOf(3), d = TraceOf(4);
  const BlocksChange one = BlocksBetween({a, b}, {c, d}), other = BlocksBetween({b, a}, {d, c});
  ASSERT_EQ(one.blocks.size(), other.blocks.size());
  for (size_t i = 0; i < one.blocks.size(); ++i) {
    EXPECT_EQ(one.blocks[i].block, other.blocks[i].block);
    EXPECT_NEAR(one.blocks[i].device.difference(), other.blocks[i].device.difference(), 1e-6);
    EXPECT_NEAR(*one.blocks[i].device.half_width, *other.blocks[i].device.half_width, 1e-6);
  }
}

TEST(CompareBlocks, SaysWhyThereAreNone) {
  TraceAnalysis without = TraceOf(1);
  without.layers = {};
  without.layers.state = LayersState::kNoMixer;
  EXPECT_EQ(BlocksBetween({TraceOf(1)}, {without}).cannot_tell,
            "new has no layers: no kernel is known as attention or a state space");
  TraceAnalysis other = TraceOf(1);
  other.layers.count = 9;
  EXPECT_TRUE(BlocksBetween({TraceOf(1)}, {other}).other_layers);
  EXPECT_EQ(BlocksBetween({TraceOf(1)}, {other}).cannot_tell, "base has 8 layers, new 9");
  TraceAnalysis old = TraceOf(1);
  old.layers.phases.front().batches.clear();
  old.results = "old.json";
  EXPECT_THAT(BlocksBetween({old}, {TraceOf(1)}).cannot_tell,
              HasSubstr("old.json does not hold blocks by batch"));
  TraceAnalysis few = TraceOf(1);
  few.layers.phases.front().batches.pop_back();
  few.layers.phases.front().batches.front().steps = 7;
  EXPECT_THAT(BlocksBetween({few}, {TraceOf(1)}).cannot_tell,
              HasSubstr("base 7, new 40; 8 of each"));
}

TEST(BatchBlocks, AddUpAndAreConsistent) {
  Random random(7, 1);
  BatchBlocks steps = StepsOf(kSmall, 30, random, {});
  EXPECT_TRUE(IsConsistent(steps));
  for (const BatchBlock& block : steps.blocks) {
    DurationNs sum;
    for (const DurationNs layer : block.layers) sum += layer;
    EXPECT_EQ(sum, IsInLayer(block.block) ? block.device.total : DurationNs{});
  }
  steps.blocks.front().gap.total += DurationNs{1};
  EXPECT_FALSE(IsConsistent(steps));
}

// The deviations against their definition.
TEST(BatchBlocks, DeviationsFromStepToStep) {
  BatchBlockSums sums(2);
  for (const int64_t ns : {100, 140, 120}) {
    sums.Add(0, LayerBlock::kNorm, {ns}, {10}, {});
    sums.Add(1, LayerBlock::kNorm, {50}, {}, {ns});
    sums.EndStep();
  }
  const BatchBlocks steps = sums.Finish(kSmall);
  ASSERT_EQ(steps.blocks.size(), 1u);
  const BatchBlock& norm = steps.blocks.front();
  EXPECT_EQ(norm.device.total.ns, 510);
  EXPECT_EQ(norm.device.deviation.ns, 20);
  EXPECT_EQ(norm.gap.deviation.ns, 0);
  EXPECT_EQ(norm.overlap.total.ns, 360);
  EXPECT_THAT(norm.layers, ElementsAre(DurationNs{360}, DurationNs{150}));
  EXPECT_THAT(norm.layer_deviations, ElementsAre(DurationNs{20}, DurationNs{0}));
  EXPECT_EQ(steps.whole.work.total.ns, 870);
  EXPECT_EQ(steps.whole.work.deviation.ns, 40);
}

}  // namespace
}  // namespace tacho
