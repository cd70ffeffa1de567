#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/names/classifier.h"
#include "model/trace.h"
#include "view/lane.h"

namespace tacho {

// What the colours of a row stand for. Each palette has at most kColors of them.
enum class Palette : uint8_t {
  kWork,      // kinds of device work: gemm, moe, attention, ...
  kPhases,    // of steps: prefill, decode, mixed, empty, other
  kIdle,      // causes of idle time (IdleCause, in its order)
  kExposure,  // busy; communication: hidden, exposed
  kHost,      // Python frames, annotations, operators, calls that launch, wait, copy, others
};
// The names of a palette's colours, for legends; [i] is the name of colour i.
std::vector<std::string_view> ColorNames(Palette palette);

// The colour, in Palette::kWork, of a category of the classifier.
uint8_t ColorOfCategory(std::string_view category);

// The colours of Palette::kExposure and kHost.
enum class Exposure : uint8_t { kBusy, kHidden, kExposed };
enum class HostColor : uint8_t { kPython, kAnnotation, kOperator, kLaunch, kWait, kCopy, kOther };

// By StringId of the trace: in Palette::kWork the colour of GPU work (also copies and memsets) of
// that name; in Palette::kHost the colour of a call into the CUDA or HIP runtime.
std::vector<uint8_t> ColorsOfGpuWork(const Trace& trace, const Classifier& classifier);
std::vector<uint8_t> ColorsOfHostCalls(const Trace& trace);

}  // namespace tacho
