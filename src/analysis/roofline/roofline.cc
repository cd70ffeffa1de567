#include "analysis/roofline/roofline.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "analysis/roofline/block_work.h"
#include "base/words.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(RooflineLack::kCount)> kLackIds = {
    "model",  "gpu",     "ranks",  "number-format", "steps", "one-device",
    "tokens", "lengths", "layers", "same-model",    "fit",   "routed-tokens"};

constexpr LayerBlock kOfExperts[] = {LayerBlock::kExperts, LayerBlock::kExpertsUp,
                                     LayerBlock::kExpertsDown};
constexpr LayerBlock kOfRouting[] = {LayerBlock::kDispatch, LayerBlock::kCombine};

bool IsOfExperts(LayerBlock block) {
  return std::ranges::find(kOfExperts, block) != std::end(kOfExperts);
}

// Whether a kernel's name says that it computes with 8-bit numbers: "bmm_MxE4m3...",
// "...QkvE4m3...". "Fp8KVCacheDataType" does not count, because all kernels of vLLM's cache have it
// in their names.
bool SaysEightBits(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (size_t at; (at = text.find("fp8kvcachedatatype")) != text.npos;) text.erase(at, 18);
  return HasOneOf(text, {"e4m3", "e5m2", "fp8", "float8"});
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
    result_.model = setup_.model->type;
    result_.layers = static_cast<int64_t>(setup_.model->layers.size());
    FindGpu();
    FindRanks();
    if (!prepared_.integrity.device_times() || prepared_.work.on_host) Lack(RooflineLack::kSteps);
    if (prepared_.work.devices.size() > 1) Lack(RooflineLack::kDevices);
    if (layers_.state != LayersState::kFound) {
      Lack(RooflineLack::kLayers);
    } else if (layers_.count != setup_.model->layers.size() || Has(kOfExperts) != HasExperts()) {
      Lack(RooflineLack::kOtherModel);
    }
    if (RunsInOtherFormats()) Lack(RooflineLack::kFormat);
    if (!result_.missing.empty()) return std::move(result_);
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
    for (const WeightFormat& format : {setup_.model->weights, setup_.model->expert_weights}) {
      if (gpu->flops.at(static_cast<size_t>(format.math)) == 0) Lack(RooflineLack::kFormat);
    }
  }
  void FindRanks() {
    const int64_t world = setup_.other_groups ? 0 : prepared_.index.trace().header.world_size;
    const int64_t ranks = setup_.tensor_ranks.value_or(world);
    if (ranks < 1 || setup_.model->heads % ranks != 0) return Lack(RooflineLack::kRanks);
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
    return std::ranges::any_of(setup_.model->layers,
                               [](const DecoderLayer& layer) { return layer.experts > 0; });
  }

  // Whether some kernels compute in 8 bits although the configuration says 16, because the engine
  // was told to or chose to. Attention always counts; matrix products count only if the
  // configuration has all of them in 16 bits.
  [[nodiscard]] bool RunsInOtherFormats() const {
    const Trace& trace = prepared_.index.trace();
    const bool products = setup_.model->weights.math == MathFormat::k16Bit &&
                          setup_.model->expert_weights.math == MathFormat::k16Bit;
    std::vector<bool> is_known(trace.words.strings.size());
    for (const DeviceItems& device : prepared_.work.devices) {
      for (const WorkItem& item : device.items) {
        if (item.kind != WorkKind::kCompute || is_known[Index(item.name)]) continue;
        is_known[Index(item.name)] = true;
        const std::string_view category = prepared_.work.categories[item.category];
        const bool counts = category == "attention.core" ||
                            (products && (category == "gemm.dense" || category == "moe.gemm"));
        if (counts && SaysEightBits(trace.Text(item.name))) return true;
      }
    }
    return false;
  }

  // The work of a step; null if its tokens are not known.
  const std::vector<BlockWork>* WorkOf(uint32_t step) {
    const auto [at, is_new] = work_.try_emplace(step);
    if (is_new) {
      const auto tokens = TokensOf(prepared_.steps.steps[step].label, setup_.context_length);
      if (tokens) {
        any_tokens_ = true;
        if (tokens->context.k < 0 || tokens->generation.k < 0) Lack(RooflineLack::kLengths);
        at->second = WorkOfStep(*setup_.model, result_.ranks, *tokens);
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
      if (work == nullptr) continue;
      Sum& sum = sums[steps[i].label.phase];
      ++sum.work.steps;
      sum.work.time += *steps[i].device_busy;
      for (const BlockWork& of : *work) sum.Add(of, gpu_);
    }
    if (!any) return Lack(RooflineLack::kSteps);
    if (!any_tokens_) return Lack(RooflineLack::kTokens);
    if (!result_.missing.empty()) return;  // lengths, or routed tokens
    for (const auto& [phase, sum] : sums) {
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
      if (!known) continue;
      for (auto& [block, sum] : sums) {
        if (sum.roof == 0 || (IsOfExperts(block) && Lacks(RooflineLack::kRoutedTokens)) ||
            (block == LayerBlock::kAttention && Lacks(RooflineLack::kLengths)))
          continue;
        sum.work.steps = phase.steps;
        RoofBlock& of = result_.blocks.emplace_back();
        static_cast<RoofWork&>(of) = sum.Finished();
        of.phase = phase.phase;
        of.block = block;
      }
    }
  }

  // Nothing is faster than its roof. Attention may be, a little: its lengths may be means.
  void CheckFit() {
    constexpr double kTolerance = 1.05, kToleranceOfAttention = 3;
    const auto exceeds = [&](const RoofWork& of, double most) {
      return static_cast<double>(of.roof.ns) > most * static_cast<double>(of.time.ns);
    };
    const bool fits =
        std::ranges::none_of(result_.phases,
                             [&](const RoofPhase& of) { return exceeds(of, kTolerance); }) &&
        std::ranges::none_of(result_.blocks, [&](const RoofBlock& of) {
          return exceeds(of,
                         of.block == LayerBlock::kAttention ? kToleranceOfAttention : kTolerance);
        });
    if (fits) {
      // A roof of attention that is above its time says that the means are wrong.
      std::erase_if(result_.blocks, [&](const RoofBlock& of) {
        return of.block == LayerBlock::kAttention && exceeds(of, kTolerance);
      });
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
  Accelerator gpu_;
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
