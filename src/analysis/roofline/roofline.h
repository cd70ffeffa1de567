#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/layers/layer_table.h"
#include "analysis/prepared_trace.h"
#include "analysis/roofline/accelerator.h"
#include "analysis/roofline/decoder_shape.h"

namespace tacho {

// What is known of the model and the accelerator beside the trace.
struct RooflineSetup {
  std::optional<DecoderShape> model = {};
  std::optional<Accelerator> gpu = {};       // absent: by the trace's name of its device
  std::optional<int64_t> tensor_ranks = {};  // absent: the world size of the trace
  // The rank is of one of several data-parallel engines, or of a stage of a pipeline. Then the
  // world size does not say how many ranks share a matrix, and experts may get tokens of other
  // engines.
  bool other_groups = false;
  std::optional<int64_t> context_length = {};  // mean of a request, for steps that do not say it
};

// What is unknown, so that figures are absent.
enum class RooflineLack : uint8_t {
  kModel,
  kGpu,
  kRanks,         // how many ranks share each matrix
  kFormat,        // the accelerator has no peak for the number format, or kernels show another one
  kSteps,         // no step with all its work
  kDevices,       // the trace has several devices
  kTokens,        // no step says its requests and tokens
  kLengths,       // of requests: no attention, and so no phase
  kLayers,        // none were found: no blocks
  kOtherModel,    // the trace has another number of layers, or experts where the model has none
  kDoesNotFit,    // a roof is above its time: the model, the accelerator or the ranks are others
  kRoutedTokens,  // of the experts: other ranks send theirs
  kCount,
};
std::string_view RooflineLackId(RooflineLack lack);  // "model", "gpu", ...

// Work of several steps of one phase beside its time and the time of the roof.
struct RoofWork {
  uint64_t steps = 0;
  double flops = 0, bytes = 0, link_bytes = 0;
  DurationNs time;  // of the device
  DurationNs roof;  // the least that the work takes at the peaks
  // The shares of the time that the FLOPs take at the peak of their format, and the bytes at that
  // of the memory.
  double mfu = 0, mbu = 0;
};
struct RoofPhase : RoofWork {
  Phase phase = Phase::kOther;
};
struct RoofBlock : RoofWork {
  Phase phase = Phase::kOther;
  LayerBlock block = LayerBlock::kOther;
};

struct Roofline {
  std::string gpu, model;         // "": not known
  int64_t ranks = 0, layers = 0;  // of tensor parallelism; of the model
  std::array<double, kMathFormats> peak_flops{};
  double peak_bytes_s = 0, peak_link_bytes_s = 0;
  std::vector<RoofPhase> phases;  // by phase, of the steps whose work and tokens are known
  std::vector<RoofBlock> blocks;  // by phase, then block, of the steps whose layers are known too
  std::vector<RooflineLack> missing;

  // A model was given.
  [[nodiscard]] bool wanted() const { return !model.empty(); }
};

// How far the steps of a trace are from the limits of the hardware. The roof of a block is its
// FLOPs at the peak of their format, its bytes at the peak of the memory, or its part of an
// all-reduce at that of the links, whichever takes longest; the roof of a phase is the sum over the
// blocks of its steps, because one block follows the other. `layers`: FindLayers of the same trace.
// Cost: O(steps x kinds of layers).
Roofline RooflineOf(const PreparedTrace& prepared, const LayerTable& layers,
                    const RooflineSetup& setup);

// The time of compute in steps with layers beyond the roofs of its blocks: blocks without a roof,
// such as norms, count whole. 0 if some figure is missing.
DurationNs ComputeAboveRoof(const LayerTable& layers, const Roofline& roofline);

}  // namespace tacho
