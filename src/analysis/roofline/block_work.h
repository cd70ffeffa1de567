#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/layers/layer_blocks.h"
#include "analysis/roofline/decoder_shape.h"
#include "analysis/steps/step_grammar.h"

namespace tacho {

// What a block of the model has to do on one rank, in one step.
struct BlockWork {
  LayerBlock block = LayerBlock::kOther;
  MathFormat math = MathFormat::k16Bit;
  double flops = 0;
  double bytes = 0;       // to and from the device's memory
  double link_bytes = 0;  // to the other ranks
};

// The tokens of a step: requests whose prompt is read (context) and whose answer is made
// (generation), with the sums of StepLabel.
struct StepTokens {
  struct Part {
    double requests = 0, q = 0, k = 0, qk = 0, qq = 0;
  };
  Part context, generation;
};
// `mean_k`: taken for the length of each request whose answer is made where the label does not give
// it; prompts then count as read at once. Absent if the label does not say the requests and tokens
// of both parts, or the step has none. `k` and `qk` are negative if the lengths are not known.
std::optional<StepTokens> TokensOf(const StepLabel& label, std::optional<int64_t> mean_k);

// The work of the blocks whose work is a law of the model: products, attention, and the all-reduce
// of `ranks` tensor-parallel ranks; all layers together. Norms, activations and copies have none:
// a kernel that is fused with its neighbour reads and writes nothing for them. Without lengths,
// there is no attention.
//
// With M tokens, a product of K x N weights takes 2MNK FLOPs and MK + KN + MN values. Attention
// with causal mask takes H(d_qk + d_v)(2 sum qk - sum q^2) FLOPs for prompts, without the square
// for answers, and reads each cached key and value once. Of E experts with k a token, M tokens need
// E(1 - ((E-k)/E)^M) in the mean, if all are equally likely (tokens that are alike need fewer). An
// all-reduce moves 2(n-1)/n of its data over each rank's links. A sliding window bounds the sums as
// if all requests of the step had equal lengths. docs/metrics.md#roofline has the formulas.
std::vector<BlockWork> WorkOfStep(const DecoderShape& model, int64_t ranks,
                                  const StepTokens& tokens);

}  // namespace tacho
