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

// The tokens of a step in two parts: requests whose prompt is read (context), and requests whose
// answer is made (generation). `requests`: their number. The others are sums over these requests,
// as in StepLabel: q new tokens, k tokens in all, q*k and q*q.
struct StepTokens {
  struct Part {
    double requests = 0, q = 0, k = 0, qk = 0, qq = 0;
  };
  Part context, generation;
};
// The tokens that the label of a step tells. nullopt if it does not tell the requests and tokens of
// both parts, or if the step has no tokens.
//
// `mean_k`: used if the label does not give lengths. It is then the length of each request whose
// answer is made, and prompts count as read at once. If it is absent too, `k` and `qk` are
// negative.
std::optional<StepTokens> TokensOf(const StepLabel& label, std::optional<int64_t> mean_k);

// The work of each block on one rank in one step, for all layers together. Only blocks whose work
// follows from the sizes of the model are included: matrix products, attention, and the all-reduce
// among `ranks` tensor-parallel ranks. Norms, activations and copies are left out: if they are
// fused with a neighbour, they read and write nothing more. Attention is left out if lengths are
// unknown.
//
// With M tokens, a product with K x N weights takes 2MNK FLOPs and moves MK + KN + MN values.
// Attention with a causal mask takes H(d_qk + d_v)(2 sum qk - sum q^2) FLOPs for prompts. For
// answers the term with q^2 is left out. Attention reads each cached key and value once. If a layer
// has E experts and a token uses k of them, M tokens use E(1 - ((E-k)/E)^M) experts on average,
// provided that all experts are equally likely (similar tokens use fewer). An all-reduce moves
// 2(n-1)/n of its data over the links of each of n ranks, or `link_share` of it. With a sliding
// window, the sums are limited as if all requests of the step had equal lengths.
// docs/metrics.md#roofline has the formulas.
std::vector<BlockWork> WorkOfStep(const DecoderShape& model, int64_t ranks,
                                  const StepTokens& tokens, std::optional<double> link_share = {});

}  // namespace tacho
