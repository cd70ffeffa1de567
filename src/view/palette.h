#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/layers/layer_blocks.h"
#include "analysis/names/classifier.h"
#include "model/trace.h"
#include "view/lane.h"

namespace tacho {

// What the colours of a row stand for. Each palette has at most kColors colours.
enum class Palette : uint8_t {
  kWork,      // kinds of device work: gemm, moe, attention, ...
  kPhases,    // phases of steps: prefill, decode, mixed, empty, other
  kIdle,      // causes of idle time (IdleCause, in its order)
  kExposure,  // busy; hidden communication; exposed communication
  kHost,      // Python frames, annotations, operators; calls that launch, wait or copy; other calls
  kBlocks,    // blocks of a model
};
inline constexpr Palette kAllPalettes[] = {Palette::kWork,     Palette::kPhases, Palette::kIdle,
                                           Palette::kExposure, Palette::kHost,   Palette::kBlocks};
// The names of a palette's colours, for legends; [i] is the name of colour i.
std::vector<std::string_view> ColorNames(Palette palette);

// The colour in Palette::kWork for a category of the classifier.
uint8_t ColorOfCategory(std::string_view category);
// The colour in Palette::kBlocks.
uint8_t ColorOfBlock(LayerBlock block);

// The colours of Palette::kExposure and kHost.
enum class Exposure : uint8_t { kBusy, kHidden, kExposed };
enum class HostColor : uint8_t { kPython, kAnnotation, kOperator, kLaunch, kWait, kCopy, kOther };

// Colours by StringId of the trace. ColorsOfGpuWork returns colours of Palette::kWork for the names
// of kernels, copies and memsets. ColorsOfHostCalls returns colours of Palette::kHost for the names
// of calls into the CUDA or HIP runtime.
std::vector<uint8_t> ColorsOfGpuWork(const Trace& trace, const Classifier& classifier);
std::vector<uint8_t> ColorsOfHostCalls(const Trace& trace);

}  // namespace tacho
