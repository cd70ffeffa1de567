#include "view/layer_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "analysis/layers/block_runs.h"
#include "base/random.h"
#include "view/layer_flame.h"
#include "view/slice_detail.h"
#include "view/viewed_for_test.h"

namespace tacho {
namespace {

constexpr int kLayers = 5;
const std::vector<const char*> kLayer = {
    "rms_norm_kernel",          "ampere_sgemm",     "rotary_embedding_kernel",
    "reshape_and_cache_kernel", "flash_fwd_kernel", "ampere_sgemm",
    "ncclDevKernel_AllReduce",  "rms_norm_kernel",  "ampere_sgemm",
    "silu_and_mul_kernel",      "ampere_sgemm",     "ncclDevKernel_AllReduce"};

// Steps of a model on one or two devices. Kernels may start before the one before them has ended,
// and may be hidden by a copy on another stream. A step may start while the one before still runs.
Trace RandomSteps(uint64_t seed) {
  Random random(seed);
  TraceBuilder builder;
  int64_t host = 0, correlation = 0;
  const int64_t devices = random.Between(1, 2);
  std::vector<int64_t> at(static_cast<size_t>(devices), 1'000);
  for (int step = 0; step < 6; ++step) {
    std::vector<std::string> kernels = {"vectorized_elementwise_kernel", "embedding_kernel"};
    for (int layer = 0; layer < kLayers; ++layer)
      kernels.insert(kernels.end(), kLayer.begin(), kLayer.end());
    for (const char* name : {"rms_norm_kernel", "ampere_sgemm", "topk_sampling_kernel"})
      kernels.emplace_back(name);
    const int64_t begin = host;
    for (int64_t device = 0; device < devices; ++device) {
      const std::string id = std::to_string(device);
      int64_t& now = at[static_cast<size_t>(device)];
      if (random.Below(3) == 0) now -= random.Between(0, 60);
      now = std::max(now, host + 10);
      int64_t before = 0;  // start of the kernel before
      for (const std::string& kernel : kernels) {
        const auto launch = [&] {
          builder.Host("cuda_runtime", "cudaLaunchKernel",
                       {.start = host, .duration = 1, .correlation = ++correlation});
          host += 2;
          return TraceBuilder::OnGpu{.device = id,
                                     .stream = "7",
                                     .start = now,
                                     .duration = random.Between(0, 40),
                                     .correlation = correlation};
        };
        TraceBuilder::OnGpu of = launch();
        now += random.Below(8) == 0 ? -random.Between(1, 8) : random.Between(0, 12);
        of.start = now = std::max({now, before + 1, host});
        before = now;
        builder.Kernel(kernel, of);
        now += of.duration;
        if (random.Below(20) > 0) continue;
        TraceBuilder::OnGpu copy = launch();
        copy.stream = "9";
        copy.duration = random.Between(0, 200);
        builder.Memcpy("Memcpy DtoD", copy);
      }
    }
    builder.Host("user_annotation",
                 step % 3 == 0 ? "execute_context_1(32)_generation_0(0)"
                               : "execute_context_0(0)_generation_1(1)",
                 {.start = begin, .duration = host - begin});
    host += 10;
  }
  return std::move(builder).Finish();
}

struct Sums {
  int64_t device = 0, gap = 0;
  uint64_t count = 0;
  bool operator==(const Sums&) const = default;
};
using Key = std::tuple<Phase, uint32_t, LayerBlock>;  // phase, layer, block

std::map<Key, Sums> SumsOf(const LayerTable& table) {
  std::map<Key, Sums> sums;
  for (const PhaseLayers& phase : table.phases) {
    const auto add = [&](uint32_t layer, const std::vector<BlockTime>& blocks) {
      for (const BlockTime& of : blocks)
        sums[{phase.phase, layer, of.block}] = {of.device.ns, of.gap.ns, of.count};
    };
    for (const LayerRow& layer : phase.layers) add(layer.index, layer.blocks);
    add(BlockRun::kOutside, phase.outside);
  }
  return sums;
}

struct Rows {
  explicit Rows(const RankRows& rank) {
    for (const TimelineRow& row : rank.rows()) {
      if (row.kind == RowKind::kLayer) layers.push_back(&row);
      if (row.kind == RowKind::kBlock) blocks.push_back(&row);
    }
  }
  std::vector<const TimelineRow*> layers, blocks;  // by device
};

TEST(LayerRows, AddUpToTheLayerTableAndNest) {
  size_t hidden = 0, overlapping = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Trace trace = RandomSteps(seed);
    const PreparedTrace prepared = Prepare(trace, ViewRules());
    const LayerTable table = FindLayers(prepared, LayersOfSteps(prepared));
    ASSERT_EQ(table.state, LayersState::kFound) << seed;
    ASSERT_EQ(table.count, kLayers) << seed;
    const RankRows rank(prepared, ViewRules());
    const LayerRows& layers = rank.layers();
    const Rows rows(rank);
    ASSERT_EQ(rows.layers.size(), prepared.work.devices.size());
    ASSERT_EQ(rows.blocks.size(), prepared.work.devices.size());

    std::map<Key, Sums> sums;
    for (size_t device = 0; device < rows.blocks.size(); ++device) {
      const auto& [layer_slices, block_slices] = layers.of_device()[device];
      const auto when_of = [&](uint32_t row) {
        return rank.When({static_cast<uint32_t>(DrawnFrom::kComputed), row});
      };
      std::map<uint32_t, TimeNs> until;  // by step
      for (size_t i = 0; i < block_slices.size(); ++i) {
        const auto runs = *layers.RunsOf(block_slices[i]);
        const LayerRows::Run& run = layers[runs.first];
        ASSERT_EQ(runs.last, runs.first + 1);
        Sums& of = sums[{rank.steps()[run.step].label.phase, run.layer, run.block}];
        of.device += run.device.ns;
        of.gap += run.gap.ns;
        of.count += layers.PiecesOf(runs.first).rows.size();
        const Interval when = when_of(block_slices[i]);
        ASSERT_LE(run.device, when.length());
        const auto [before, first] = until.try_emplace(run.step, when.end);
        ASSERT_TRUE(first || before->second <= when.start);
        before->second = when.end;
        hidden += when.empty() ? 1 : 0;
      }
      size_t in_layers = 0;
      for (size_t i = 0; i < layer_slices.size(); ++i) {
        const auto runs = *layers.RunsOf(layer_slices[i]);
        const Interval when = when_of(layer_slices[i]);
        ASSERT_EQ(
            when.start,
            when_of(block_slices[0] + runs.first - layers.RunsOf(block_slices[0])->first).start);
        for (uint32_t run = runs.first; run < runs.last; ++run) {
          ASSERT_EQ(layers[run].layer, layers[runs.first].layer);
          ASSERT_EQ(layers[run].step, layers[runs.first].step);
          const Interval block =
              when_of(block_slices[0] + run - layers.RunsOf(block_slices[0])->first);
          ASSERT_LE(when.start, block.start);
          ASSERT_LE(block.end, when.end);
          ++in_layers;
        }
      }
      size_t inside = 0, shown = 0, drawn = 0;
      for (size_t i = 0; i < block_slices.size(); ++i) {
        inside += layers[layers.RunsOf(block_slices[i])->first].layer != BlockRun::kOutside;
        shown += when_of(block_slices[i]).empty() ? 0 : 1;
      }
      for (const Lane& lane : rows.blocks[device]->lanes) drawn += lane.size();
      EXPECT_EQ(in_layers, inside);
      EXPECT_EQ(drawn, shown);
      overlapping += rows.blocks[device]->lanes.size() > 1 ? 1 : 0;
    }
    EXPECT_EQ(sums, SumsOf(table)) << seed;
  }
  EXPECT_GT(hidden, 0u);
  EXPECT_GT(overlapping, 0u);
}

// The times of a flame graph by phase, layer and block, from its names.
std::map<std::tuple<std::string, std::string, std::string>, int64_t> TimesOf(
    const std::vector<FlameNode>& nodes) {
  std::map<std::tuple<std::string, std::string, std::string>, int64_t> times;
  for (const FlameNode& node : nodes) {
    std::vector<std::string> path;
    const FlameNode* at = &node;
    for (; at->parent != 0; at = &nodes[at->parent]) path.emplace(path.begin(), at->name);
    path.emplace(path.begin(), at->name);
    const bool inside = path.size() > 1 && path[1].starts_with("layer ");
    // Names of work are the leaves.
    if (path.size() == (inside ? 4u : 3u))
      times[{path[0], inside ? path[1] : "", path[inside ? 2 : 1]}] += node.total.ns;
  }
  std::erase_if(times, [](const auto& of) { return of.second == 0; });
  return times;
}

TEST(LayerFlame, OfTheWholeTraceIsTheLayerTableAndOfPartsAddsUp) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Trace trace = RandomSteps(seed);
    const PreparedTrace prepared = Prepare(trace, ViewRules());
    const RankRows rank(prepared, ViewRules());
    std::map<std::tuple<std::string, std::string, std::string>, int64_t> expected, whole, parts;
    uint64_t steps = 0;
    for (const auto& [key, sums] : SumsOf(rank.layers().table())) {
      const auto [phase, layer, block] = key;
      if (sums.device == 0) continue;
      expected[{std::string(PhaseName(phase)),
                layer == BlockRun::kOutside ? "" : "layer " + std::to_string(layer),
                std::string(LayerBlockId(block))}] = sums.device;
    }
    const Interval all{{0}, {1'000'000}};
    const TimeNs cut{1'000 + static_cast<int64_t>(Random(seed).Below(4'000))};
    for (const TimelineRow* blocks : Rows(rank).blocks) {
      const std::vector<FlameNode> nodes = LayerFlame(rank, *blocks, all, {});
      for (const auto& [key, ns] : TimesOf(nodes)) whole[key] += ns;
      for (size_t i = 1; i < nodes.size(); ++i) ASSERT_LT(nodes[i].parent, i);
      for (const Interval window : {Interval{all.start, cut}, Interval{cut, all.end}}) {
        for (const auto& [key, ns] : TimesOf(LayerFlame(rank, *blocks, window, {})))
          parts[key] += ns;
      }
      for (const FlameNode& node : nodes) steps += node.parent == 0 ? node.count : 0;
      EXPECT_TRUE(LayerFlame(rank, *blocks, all, {}, 10).empty());
      EXPECT_LT(LayerFlame(rank, *blocks, all, {300}).size(), nodes.size());
    }
    EXPECT_EQ(steps, 6 * prepared.work.devices.size()) << seed;
    EXPECT_EQ(whole, expected) << seed;
    EXPECT_EQ(parts, expected) << seed;
  }
}

TEST(DetailOf, OfALayerIsTheSumOfItsBlocksBesideTheMeanOfItsPhase) {
  const ReadRanks ranks = RanksOf(RandomSteps(3));
  const LayerTable& table = ranks[0]->view().layers().table();
  for (uint32_t row = 0; row < ranks[0]->rows().size(); ++row) {
    const TimelineRow& of = ranks[0]->rows()[row];
    if (of.kind != RowKind::kLayer && of.kind != RowKind::kBlock) continue;
    for (uint32_t lane = 0; lane < of.lanes.size(); ++lane) {
      for (uint32_t place = 0; place < of.lanes[lane].size(); ++place) {
        const auto detail = *DetailOf(ranks, {0, row, lane, place});
        ASSERT_TRUE(detail.layers && detail.step);
        const SliceDetail::OfLayers& found = *detail.layers;
        EXPECT_EQ(found.phase, detail.step->phase);
        const auto phase = std::ranges::find(table.phases, found.phase, &PhaseLayers::phase);
        EXPECT_EQ(found.steps, phase->steps);
        if (of.kind == RowKind::kLayer) {
          EXPECT_EQ(detail.kind, DrawnKind::kLayer);
          EXPECT_FALSE(found.block);
          ASSERT_TRUE(found.layer);
          EXPECT_EQ(detail.name, "layer " + std::to_string(*found.layer));
          const LayerRow& layer = phase->layers[*found.layer];
          EXPECT_EQ(found.kind, layer.kind);
          EXPECT_EQ(found.mean_device.ns, layer.device.ns / static_cast<int64_t>(phase->steps));
          EXPECT_EQ(found.mean_gap.ns, layer.gap.ns / static_cast<int64_t>(phase->steps));
          EXPECT_GE(found.count, kLayer.size());
          EXPECT_LE(found.device, detail.slice.when.length());
        } else {
          EXPECT_EQ(detail.kind, DrawnKind::kBlock);
          ASSERT_TRUE(found.block);
          EXPECT_EQ(detail.name, LayerBlockId(*found.block));
          const auto& blocks = found.layer ? phase->layers[*found.layer].blocks : phase->outside;
          const auto mean = std::ranges::find(blocks, *found.block, &BlockTime::block);
          EXPECT_EQ(found.mean_device.ns, mean->device.ns / static_cast<int64_t>(phase->steps));
          // A layer has two norms.
          if (found.layer && *found.block == LayerBlock::kNorm) {
            EXPECT_EQ(found.count, 2u);
          }
        }
      }
    }
  }
}

TEST(DetailOf, OfWorkHasItsBlock) {
  const ReadRanks ranks = RanksOf(RandomSteps(3));
  const RankRows& view = ranks[0]->view();
  size_t found = 0, attention = 0;
  for (uint32_t row = 0; row < view.trace().gpu.size(); ++row) {
    const auto slice = FindSlice(ranks, 0, {static_cast<uint32_t>(DrawnFrom::kGpu), row});
    const auto detail = *DetailOf(ranks, slice->at);
    if (!detail.block) continue;
    ++found;
    const bool is_attention = detail.name == "flash_fwd_kernel";
    EXPECT_EQ(detail.block->slice.name == "attention", is_attention) << detail.name;
    EXPECT_TRUE(!is_attention || detail.block->layer);
    attention += is_attention ? 1 : 0;
    EXPECT_EQ(view.rows()[detail.block->slice.at.row].owner,
              view.rows()[detail.slice.at.row].owner);
  }
  EXPECT_GT(found, view.trace().gpu.size() * 8 / 10);
  EXPECT_GT(attention, 0u);
}

TEST(LayerRows, AreAbsentWithoutLayers) {
  const ReadRanks ranks = RanksOf(Launched([](int64_t) { return true; }));
  const RankRows& rank = ranks[0]->view();
  EXPECT_EQ(rank.layers().MemoryBytes(), 0u);
  EXPECT_TRUE(Rows(rank).layers.empty() && Rows(rank).blocks.empty());
  EXPECT_EQ(rank.layers().table().state, LayersState::kNoSteps);
}

TEST(Palette, EachBlockHasItsColor) {
  const std::vector<std::string_view> names = ColorNames(Palette::kBlocks);
  ASSERT_EQ(names.size(), kColors);
  for (size_t block = 0; block < kLayerBlocks; ++block)
    EXPECT_LT(ColorOfBlock(static_cast<LayerBlock>(block)), kColors);
  EXPECT_EQ(names[ColorOfBlock(LayerBlock::kMlpDown)], "mlp");
  EXPECT_EQ(names[ColorOfBlock(LayerBlock::kCollective)], "communication");
  EXPECT_EQ(names[ColorOfBlock(LayerBlock::kOther)], "other");
  EXPECT_EQ(names[ColorOfBlock(LayerBlock::kLmHead)], "embedding, lm_head");
}

}  // namespace
}  // namespace tacho
