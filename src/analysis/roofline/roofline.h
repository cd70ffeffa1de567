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

// What is known about the model and the accelerator from outside the trace.
struct RooflineSetup {
  std::optional<DecoderShape> model = {};
  std::optional<Accelerator> gpu = {};       // absent: by the trace's name of its device
  std::optional<int64_t> tensor_ranks = {};  // absent: the world size of the trace
  // The rank belongs to one of several data-parallel engines, or to one of several pipeline stages.
  // Then the world size does not tell how many ranks share a matrix, and the experts may get tokens
  // from other engines.
  bool other_groups = false;
  std::optional<int64_t> context_length = {};  // mean of the requests; for steps without it
  // The stages of the engine's pipeline, and which of them the rank is in. Absent: `stages` is 1,
  // `stage` follows from the rank.
  std::optional<int64_t> stages = {}, stage = {};
  std::string unknown_format;  // that the engine was told and that has no formulas: "dtype float32"
};

// What is unknown. The figures that need it are absent.
enum class RooflineLack : uint8_t {
  kModel,
  kGpu,
  kRanks,         // how many ranks share each matrix
  kFormat,        // the accelerator has no peak for the number format, kernels show another one, or
                  // the engine was told one without formulas
  kSteps,         // no step has all its work in the trace
  kDevices,       // the trace has several devices
  kTokens,        // no step tells its requests and tokens
  kLengths,       // lengths of requests; without them attention and phases have no figures
  kLayers,        // no layers were found, so there are no figures of blocks
  kOtherModel,    // the trace has another number of layers, or experts where the model has none
  kDoesNotFit,    // a roof is above its time: the model, the accelerator or the ranks are others
  kRoutedTokens,  // how many tokens the experts get, because other ranks send some
  kStage,         // which layers this stage of a pipeline has
  kLinks,         // the peak of the accelerator's links
  kCount,
};
std::string_view RooflineLackId(RooflineLack lack);  // "model", "gpu", ...

// Work of several steps of one phase beside its time and the time of the roof.
struct RoofWork {
  uint64_t steps = 0;
  double flops = 0, bytes = 0, link_bytes = 0;
  DurationNs time;  // of the device
  DurationNs roof;  // the least that the work takes at the peaks
  // `mfu`: the share of `time` that the FLOPs would take at the peak of their number format. `mbu`:
  // the share that the bytes would take at the peak of the memory.
  double mfu = 0, mbu = 0;
};
struct RoofPhase : RoofWork {
  Phase phase = Phase::kOther;
};
struct RoofBlock : RoofWork {
  Phase phase = Phase::kOther;
  LayerBlock block = LayerBlock::kOther;
};

// A phase, or a block in it, that has no roof.
struct RoofRefusal {
  Phase phase = Phase::kOther;
  std::string block;  // LayerBlockId; "": the phase as a whole
  RooflineLack why = RooflineLack::kCount;
};

struct Roofline {
  std::string gpu, model;         // "": not known
  int64_t ranks = 0, layers = 0;  // of tensor parallelism; of the model, or of the rank's stage
  int64_t stages = 1;             // of the pipeline
  std::array<double, kMathFormats> peak_flops{};
  double peak_bytes_s = 0, peak_link_bytes_s = 0;
  std::vector<RoofPhase> phases;  // by phase, of the steps whose work and tokens are known
  std::vector<RoofBlock> blocks;  // by phase, then block, of the steps whose layers are known too
  std::vector<RooflineLack> missing;
  std::vector<RoofRefusal> refused;  // as `phases`, then as `blocks`; only what has a formula
  // With kFormat: a kernel that computes in 8 bits where the configuration has 16, or what the
  // engine was told; "": neither.
  std::string format_kernel, unknown_format;

  // A model was given.
  [[nodiscard]] bool wanted() const { return !model.empty(); }
};

// How far the steps of a trace are from the limits of the hardware. The roof of a block is the
// longest of three times: its FLOPs at the peak of their number format, its bytes at the peak of
// the memory, and its share of an all-reduce at the peak of the links. If the kernels of
// all-reduces let the switch add (multimem), an all-reduce moves (n+1)/n of its data over the links
// of each of n ranks. The roof of a phase is the sum over the blocks of its steps, because blocks
// run one after another. `layers`: from FindLayers for the same trace. Cost: O(steps x kinds of
// layers).
Roofline RooflineOf(const PreparedTrace& prepared, const LayerTable& layers,
                    const RooflineSetup& setup);

// How much longer the compute blocks took than their roofs, summed over all steps with layers.
// Blocks without a roof, such as norms, count with all their time. 0 if something that the roofline
// needs is unknown (Roofline::missing).
DurationNs ComputeAboveRoof(const LayerTable& layers, const Roofline& roofline);

}  // namespace tacho
