#include "analysis/roofline/roofline.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "analysis/roofline/block_work.h"
#include "analysis/roofline/kernel_formats.h"
#include "analysis/roofline/pipeline_stage.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(RooflineLack::kCount)> kLackIds = {
    "model",   "gpu",    "ranks",      "number-format", "steps",         "one-device",     "tokens",
    "lengths", "layers", "same-model", "fit",           "routed-tokens", "pipeline-stage", "links"};

constexpr LayerBlock kOfExperts[] = {LayerBlock::kExperts, LayerBlock::kExpertsUp,
                                     LayerBlock::kExpertsDown};
constexpr LayerBlock kOfRouting[] = {LayerBlock::kDispatch, LayerBlock::kCombine};

constexpr LayerBlock kWithFormula[] = {
    LayerBlock::kInputProjection, LayerBlock::kAttention,   LayerBlock::kOutputProjection,
    LayerBlock::kMlpUp,           LayerBlock::kMlpDown,     LayerBlock::kRouter,
    LayerBlock::kExpertsUp,       LayerBlock::kExpertsDown, LayerBlock::kExperts,
    LayerBlock::kSharedExpert,    LayerBlock::kLmHead};

bool HasFormula(LayerBlock block) {
  return std::ranges::find(kWithFormula, block) != std::end(kWithFormula);
}
bool IsOfExperts(LayerBlock block) {
  return std::ranges::find(kOfExperts, block) != std::end(kOfExperts);
}

// Sums whose roof and shares are in seconds.
struct Sum {
  RoofWork work;
  double roof = 0, at_flops = 0, at_bytes = 0;

  void Add(const BlockWork& of, const Accelerator& gpu) {
    const double flops = of.flops / gpu.flops.at(static_cast<size_t>(of.math));
    const double bytes = of.bytes / gpu.memory_bytes_s;
    work.flops += of.flops;
    work.bytes += of.bytes;
    work.link_bytes += of.link_bytes;
    roof += std::max({flops, bytes, gpu.link_bytes_s > 0 ? of.link_bytes / gpu.link_bytes_s : 0});
    at_flops += flops;
    at_bytes += bytes;
  }
  [[nodiscard]] RoofWork Finished() const {
    RoofWork done = work;
    done.roof = DurationNs{std::llround(roof * 1e9)};
    const double time = static_cast<double>(done.time.ns) / 1e9;
    done.mfu = time > 0 ? at_flops / time : 0;
    done.mbu = time > 0 ? at_bytes / time : 0;
    return done;
  }
};

class Roofs {
 public:
  Roofs(const PreparedTrace& prepared, const LayerTable& layers, const RooflineSetup& setup)
      : prepared_(prepared), layers_(layers), setup_(setup) {}

  Roofline Find() {
    if (!setup_.model) return {};
    model_ = *setup_.model;
    FindStage();
    result_.model = model_.type;
    result_.layers = std::ssize(model_.layers);
    FindGpu();
    FindRanks();
    if (!prepared_.integrity.device_times() || prepared_.work.on_host) Lack(RooflineLack::kSteps);
    if (prepared_.work.devices.size() > 1) Lack(RooflineLack::kDevices);
    if (layers_.state != LayersState::kFound) {
      Lack(RooflineLack::kLayers);
    } else if (!Lacks(RooflineLack::kStage) &&
               (layers_.count != model_.layers.size() || Has(kOfExperts) != HasExperts())) {
      Lack(RooflineLack::kOtherModel);
    }
    FindFormats();
    const bool in_part = attention_unknown_ || experts_unknown_;  // then kFormat is of these blocks
    if (result_.missing.size() > (in_part ? 1U : 0U)) return std::move(result_);
    if (Has(kOfRouting) || (setup_.other_groups && HasExperts())) Lack(RooflineLack::kRoutedTokens);
    AddPhases();
    AddBlocks();
    CheckFit();
    return std::move(result_);
  }

 private:
  void Lack(RooflineLack lack) {
    if (!Lacks(lack)) result_.missing.push_back(lack);
  }
  [[nodiscard]] bool Lacks(RooflineLack lack) const {
    return std::ranges::find(result_.missing, lack) != result_.missing.end();
  }

  void FindGpu() {
    std::optional<Accelerator> gpu = setup_.gpu;
    if (!gpu) gpu = AcceleratorOf(prepared_.index.trace().header);
    if (!gpu) return Lack(RooflineLack::kGpu);
    gpu_ = *gpu;
    result_.gpu = gpu->id;
    result_.peak_flops = gpu->flops;
    result_.peak_bytes_s = gpu->memory_bytes_s;
    result_.peak_link_bytes_s = gpu->link_bytes_s;
    for (const WeightFormat& format : {model_.weights, model_.expert_weights}) {
      if (gpu->flops.at(static_cast<size_t>(format.math)) == 0) Lack(RooflineLack::kFormat);
    }
  }
  void FindRanks() {
    const int64_t world = setup_.other_groups ? 0 : prepared_.index.trace().header.world_size;
    const int64_t ranks = setup_.tensor_ranks.value_or(world);
    if (ranks < 1 || model_.heads % ranks != 0) return Lack(RooflineLack::kRanks);
    result_.ranks = ranks;
  }

  // Whether layers of the trace have one of these blocks.
  [[nodiscard]] bool Has(std::span<const LayerBlock> blocks) const {
    return std::ranges::any_of(layers_.phases, [&](const PhaseLayers& phase) {
      return std::ranges::any_of(phase.layers, [&](const LayerRow& layer) {
        return std::ranges::any_of(layer.blocks, [&](const BlockTime& of) {
          return std::ranges::find(blocks, of.block) != blocks.end();
        });
      });
    });
  }
  [[nodiscard]] bool HasExperts() const {
    return std::ranges::any_of(model_.layers,
                               [](const DecoderLayer& layer) { return layer.experts > 0; });
  }

  // Takes the layers of the rank's stage, if the engine has a pipeline.
  void FindStage() {
    const int64_t stages = setup_.stages.value_or(1);
    result_.stages = stages;
    if (stages == 1 && setup_.stage.value_or(0) == 0) return;
    if (layers_.state != LayersState::kFound) return;
    const auto part = StageOfPipeline(model_, setup_.stage.value_or(-1), stages, layers_.count);
    if (!part) return Lack(RooflineLack::kStage);
    model_ = *part;
  }

  // The formats that kernels show. If only those of attention or experts are not the
  // configuration's, the other blocks have a roof all the same.
  void FindFormats() {
    result_.unknown_format = setup_.unknown_format;
    if (!setup_.unknown_format.empty()) Lack(RooflineLack::kFormat);
    const KernelFormats kernels = KernelFormatsOf(prepared_);
    link_share_ = LinkShare(kernels, result_.ranks);
    const bool products_have_16 = model_.weights.math == MathFormat::k16Bit &&
                                  model_.expert_weights.math == MathFormat::k16Bit;
    std::string& kernel = result_.format_kernel;
    if (products_have_16) kernel = kernels.eight_bit_product;
    const bool known = kernel.empty() && !Lacks(RooflineLack::kFormat);
    if (products_have_16 && kernel.empty()) {
      kernel = kernels.eight_bit_experts;
      experts_unknown_ = known && !kernel.empty();
    }
    if (model_.cache_bytes < 2) {
      if (kernels.attends_in_eight_bits && gpu_.flops[1] > 0) model_.attention = MathFormat::k8Bit;
    } else if (!kernels.eight_bit_attention.empty()) {
      if (kernel.empty()) kernel = kernels.eight_bit_attention;
      attention_unknown_ = known;
    }
    if (!kernel.empty()) Lack(RooflineLack::kFormat);
  }

  // The work of a step; null if its tokens are not known.
  const std::vector<BlockWork>* WorkOf(uint32_t step) {
    const auto [at, is_new] = work_.try_emplace(step);
    if (is_new) {
      const auto tokens = TokensOf(prepared_.steps.steps[step].label, setup_.context_length);
      if (tokens) {
        any_tokens_ = true;
        if (tokens->context.k < 0 || tokens->generation.k < 0) Lack(RooflineLack::kLengths);
        at->second = WorkOfStep(model_, result_.ranks, *tokens, link_share_);
      }
    }
    return at->second.empty() ? nullptr : &at->second;
  }

  void AddPhases() {
    const std::vector<Step>& steps = prepared_.steps.steps;
    std::map<Phase, Sum> sums;
    bool any = false;
    for (uint32_t i = 0; i < steps.size(); ++i) {
      if (!steps[i].device_busy || steps[i].lost_work || steps[i].cut || steps[i].work_cut)
        continue;
      if (steps[i].verifies) continue;  // a draft model may run in it
      any = true;
      const std::vector<BlockWork>* work = WorkOf(i);
      Sum& sum = sums[steps[i].label.phase];
      if (work == nullptr) continue;
      ++sum.work.steps;
      sum.work.time += *steps[i].device_busy;
      for (const BlockWork& of : *work) sum.Add(of, gpu_);
    }
    if (!any) return Lack(RooflineLack::kSteps);
    if (!any_tokens_) return Lack(RooflineLack::kTokens);
    for (const auto& [phase, sum] : sums) {
      if (sum.work.steps == 0) {
        if (phase != Phase::kOther) Refuse(phase, "", RooflineLack::kTokens);
        continue;
      }
      if (!result_.missing.empty()) {  // a block has no roof, see BlockLack
        Refuse(phase, "", result_.missing.front());
        continue;
      }
      RoofPhase& of = result_.phases.emplace_back();
      static_cast<RoofWork&>(of) = sum.Finished();
      of.phase = phase;
    }
  }

  // A block's time is of all steps with layers, so all of them must say their tokens.
  void AddBlocks() {
    for (const PhaseLayers& phase : layers_.phases) {
      std::map<LayerBlock, Sum> sums;
      for (const BatchBlocks& batch : phase.batches) {
        for (const BatchBlock& block : batch.blocks)
          sums[block.block].work.time += block.device.total + block.overlap.total;
      }
      const bool one_kernel = sums.contains(LayerBlock::kExperts);
      bool known = true;
      for (const uint32_t step : phase.step_indexes) {
        const std::vector<BlockWork>* work = WorkOf(step);
        known = known && work != nullptr;
        if (!known) break;
        for (const BlockWork& of : *work) {
          const LayerBlock block =
              one_kernel && IsOfExperts(of.block) ? LayerBlock::kExperts : of.block;
          if (const auto sum = sums.find(block); sum != sums.end()) sum->second.Add(of, gpu_);
        }
      }
      if (!known) {
        for (const auto& [block, sum] : sums)
          if (HasFormula(block)) Refuse(phase.phase, LayerBlockId(block), RooflineLack::kTokens);
        continue;
      }
      for (auto& [block, sum] : sums) {
        if (const auto lack = BlockLack(block, sum)) {
          Refuse(phase.phase, LayerBlockId(block), *lack);
          continue;
        }
        if (sum.roof == 0) continue;  // no formula
        sum.work.steps = phase.steps;
        RoofBlock& of = result_.blocks.emplace_back();
        static_cast<RoofWork&>(of) = sum.Finished();
        of.phase = phase.phase;
        of.block = block;
      }
    }
  }

  void Refuse(Phase phase, std::string_view block, RooflineLack why) {
    result_.refused.push_back({phase, std::string(block), why});
  }
  // Why a block has no roof although it has a formula.
  [[nodiscard]] std::optional<RooflineLack> BlockLack(LayerBlock block, const Sum& sum) const {
    if (IsOfExperts(block) && experts_unknown_) return RooflineLack::kFormat;
    if (IsOfExperts(block) && Lacks(RooflineLack::kRoutedTokens))
      return RooflineLack::kRoutedTokens;
    if (block == LayerBlock::kAttention && Lacks(RooflineLack::kLengths))
      return RooflineLack::kLengths;
    if (block == LayerBlock::kAttention && attention_unknown_) return RooflineLack::kFormat;
    if (sum.roof == 0 && sum.work.link_bytes > 0) return RooflineLack::kLinks;
    return std::nullopt;
  }

  // Nothing is faster than its roof. Attention may be, a little: its lengths may be means.
  void CheckFit() {
    constexpr double kTolerance = 1.05, kToleranceOfAttention = 3;
    const auto exceeds = [&](const RoofWork& of, double most) {
      return static_cast<double>(of.roof.ns) > most * static_cast<double>(of.time.ns);
    };
    std::vector<RoofRefusal> too_fast;
    for (const RoofPhase& of : result_.phases)
      if (exceeds(of, kTolerance)) too_fast.push_back({of.phase, "", RooflineLack::kDoesNotFit});
    bool fits = too_fast.empty();
    for (const RoofBlock& of : result_.blocks) {
      if (!exceeds(of, kTolerance)) continue;
      too_fast.push_back(
          {of.phase, std::string(LayerBlockId(of.block)), RooflineLack::kDoesNotFit});
      if (of.block != LayerBlock::kAttention || exceeds(of, kToleranceOfAttention)) fits = false;
    }
    result_.refused.insert(result_.refused.end(), too_fast.begin(), too_fast.end());
    if (fits) {
      // A roof of attention that is above its time says that the means are wrong.
      std::erase_if(result_.blocks, [&](const RoofBlock& of) { return exceeds(of, kTolerance); });
      return;
    }
    result_.phases.clear();
    result_.blocks.clear();
    Lack(RooflineLack::kDoesNotFit);
  }

  const PreparedTrace& prepared_;
  const LayerTable& layers_;
  const RooflineSetup& setup_;
  Roofline result_;
  DecoderShape model_;
  Accelerator gpu_;
  double link_share_ = 0;
  // Their kernels compute in another format than the configuration's.
  bool attention_unknown_ = false, experts_unknown_ = false;
  std::map<uint32_t, std::vector<BlockWork>> work_;  // by step
  bool any_tokens_ = false;
};

}  // namespace

std::string_view RooflineLackId(RooflineLack lack) {
  return kLackIds.at(static_cast<size_t>(lack));
}

Roofline RooflineOf(const PreparedTrace& prepared, const LayerTable& layers,
                    const RooflineSetup& setup) {
  return Roofs(prepared, layers, setup).Find();
}

DurationNs ComputeAboveRoof(const LayerTable& layers, const Roofline& roofline) {
  const auto has_no_roof = [](LayerBlock block) {
    return block == LayerBlock::kCollective || block == LayerBlock::kDispatch ||
           block == LayerBlock::kCombine || block == LayerBlock::kDraft;
  };
  if (!roofline.missing.empty()) return {};
  DurationNs above;
  for (const RoofBlock& of : roofline.blocks) {
    if (!has_no_roof(of.block)) above += -of.roof;
  }
  if (above.ns == 0) return {};
  const auto add = [&](const std::vector<BlockTime>& blocks) {
    for (const BlockTime& of : blocks) {
      if (!has_no_roof(of.block)) above += of.device;
    }
  };
  for (const PhaseLayers& phase : layers.phases) {
    // Blocks without roofs: the steps of this phase do not say their tokens.
    if (std::ranges::find(roofline.blocks, phase.phase, &RoofBlock::phase) == roofline.blocks.end())
      continue;
    add(phase.outside);
    for (const LayerRow& layer : phase.layers) add(layer.blocks);
  }
  return std::max(above, DurationNs{});
}

}  // namespace tacho
