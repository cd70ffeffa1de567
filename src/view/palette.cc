#include "view/palette.h"

#include <algorithm>
#include <array>
#include <string>

#include "analysis/device/idle_table.h"
#include "analysis/steps/step_grammar.h"
#include "base/words.h"

namespace tacho {
namespace {

// Indexes into the colours of Palette::kWork.
enum WorkColor : uint8_t {
  kGemm,
  kMoe,
  kAttention,
  kComm,
  kNorm,
  kKv,
  kQuantize,
  kSampling,
  kElementwise,
  kCopy,
  kMemory,
  kOther,
};
constexpr std::array<std::string_view, kColors> kWorkNames{
    "gemm",     "moe",      "attention",   "comm", "norm, activation", "kv, rope",
    "quantize", "sampling", "elementwise", "copy", "memset, memory",   "other"};

struct OfGroup {
  std::string_view category;  // a category, or the beginning of one
  WorkColor color;
};
// The first matching entry decides; without a match the colour is kOther.
constexpr OfGroup kGroups[] = {{"memory.copy", kCopy},    {"memory", kMemory},
                               {"gemm", kGemm},           {"conv", kGemm},
                               {"lora", kGemm},           {"moe", kMoe},
                               {"attention", kAttention}, {"ssm", kAttention},
                               {"comm", kComm},           {"norm", kNorm},
                               {"activation", kNorm},     {"softmax", kNorm},
                               {"kv_cache", kKv},         {"rope", kKv},
                               {"embedding", kKv},        {"quantize", kQuantize},
                               {"sampling", kSampling},   {"sort", kSampling},
                               {"random", kSampling},     {"elementwise", kElementwise},
                               {"fused", kElementwise},   {"reduce", kElementwise},
                               {"index", kElementwise},   {"pool", kElementwise},
                               {"loss", kElementwise},    {"optimizer", kElementwise}};

// Palette::kBlocks. Colours of the same number in Palette::kWork look the same, so what is alike
// has the same number.
enum BlockColor : uint8_t {
  kMlpBlocks,
  kExpertBlocks,
  kMixerBlocks,
  kCommBlocks,
  kNormBlocks,
  kRopeBlocks,
  kOutputBlocks,
  kSamplingBlocks,
  kInputBlocks,
  kQkvBlocks,
  kTokenBlocks,
  kOtherBlocks,
};
constexpr std::array<std::string_view, kColors> kBlockNames{"mlp",
                                                            "experts",
                                                            "attention, state space",
                                                            "communication",
                                                            "norm",
                                                            "rope, KV write",
                                                            "output projection",
                                                            "sampling",
                                                            "input",
                                                            "qkv",
                                                            "embedding, lm_head",
                                                            "other"};

}  // namespace

std::vector<std::string_view> ColorNames(Palette palette) {
  switch (palette) {
    case Palette::kWork:
      return {kWorkNames.begin(), kWorkNames.end()};
    case Palette::kPhases: {
      std::vector<std::string_view> names;
      for (const Phase phase :
           {Phase::kPrefill, Phase::kDecode, Phase::kMixed, Phase::kEmpty, Phase::kOther}) {
        names.push_back(PhaseName(phase));
      }
      return names;
    }
    case Palette::kIdle: {
      static_assert(static_cast<size_t>(IdleCause::kCount) <= kColors);
      std::vector<std::string_view> names;
      for (uint8_t i = 0; i < static_cast<uint8_t>(IdleCause::kCount); ++i) {
        names.push_back(IdleCauseId(static_cast<IdleCause>(i)));
      }
      return names;
    }
    case Palette::kExposure:
      return {"busy", "communication, hidden", "communication, exposed"};
    case Palette::kHost:
      return {"Python", "annotation", "operator", "launch", "wait", "copy", "other call"};
    case Palette::kBlocks:
      return {kBlockNames.begin(), kBlockNames.end()};
  }
  return {};
}

uint8_t ColorOfCategory(std::string_view category) {
  const auto* const group = std::ranges::find_if(
      kGroups, [&](const OfGroup& of) { return category.starts_with(of.category); });
  return group == std::end(kGroups) ? kOther : group->color;
}

uint8_t ColorOfBlock(LayerBlock block) {
  using enum LayerBlock;
  switch (block) {
    case kMlpUp:
    case kActivation:
    case kMlpDown:
      return kMlpBlocks;
    case kRouter:
    case kExpertsUp:
    case kExpertsDown:
    case kExperts:
    case kSharedExpert:
      return kExpertBlocks;
    case kAttention:
    case kStateSpace:
      return kMixerBlocks;
    case kCollective:
    case kDispatch:
    case kCombine:
      return kCommBlocks;
    case kNorm:
    case kFinalNorm:
      return kNormBlocks;
    case kRopeAndCache:
      return kRopeBlocks;
    case kOutputProjection:
      return kOutputBlocks;
    case kSampling:
      return kSamplingBlocks;
    case kInputPreparation:
      return kInputBlocks;
    case kInputProjection:
      return kQkvBlocks;
    case kEmbedding:
    case kLmHead:
      return kTokenBlocks;
    case kDraft:
    case LayerBlock::kOther:
    case kCount:
      break;
  }
  return kOtherBlocks;
}

std::vector<uint8_t> ColorsOfGpuWork(const Trace& trace, const Classifier& classifier) {
  constexpr uint8_t kUnknown = 0xff;
  std::vector<uint8_t> colors(trace.words.strings.size(), kUnknown);
  for (size_t row = 0; row < trace.gpu.size(); ++row) {
    const StringId name = trace.gpu.name[row];
    uint8_t& color = colors[static_cast<size_t>(name)];
    const SliceKind kind = trace.gpu.kind[row];
    if (kind == SliceKind::kKernel) {
      if (color != kUnknown) continue;
      color = ColorOfCategory(classifier.categories()[classifier.OfKernel(trace.Text(name))]);
    } else {
      color = kind == SliceKind::kMemcpy ? kCopy : kMemory;
    }
  }
  std::ranges::replace(colors, kUnknown, uint8_t{kOther});
  return colors;
}

std::vector<uint8_t> ColorsOfHostCalls(const Trace& trace) {
  std::vector<uint8_t> colors(trace.words.strings.size(), static_cast<uint8_t>(HostColor::kOther));
  std::vector<bool> known(colors.size());
  for (size_t row = 0; row < trace.host_calls.size(); ++row) {
    const auto name = static_cast<size_t>(trace.host_calls.name[row]);
    if (known[name]) continue;
    known[name] = true;
    const std::string lower = AsciiLowered(trace.Text(trace.host_calls.name[row]));
    const auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
    if (has("launch")) {
      colors[name] = static_cast<uint8_t>(HostColor::kLaunch);
    } else if (has("memcpy") || has("memset")) {
      colors[name] = static_cast<uint8_t>(HostColor::kCopy);
    } else if (has("synchronize") || has("wait") || has("query")) {
      colors[name] = static_cast<uint8_t>(HostColor::kWait);
    }
  }
  return colors;
}

}  // namespace tacho
