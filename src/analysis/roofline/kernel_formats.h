#pragma once

#include <cstdint>
#include <string>

#include "analysis/prepared_trace.h"

namespace tacho {

// What the names of a trace's kernels say about number formats and all-reduces.
struct KernelFormats {
  // The first kernel whose name says 8-bit numbers: of matrix products but those of experts, of
  // experts, and of attention; "": none.
  std::string eight_bit_product = {}, eight_bit_experts = {}, eight_bit_attention = {};
  // Attention also computes in 8 bits, and not only reads a cache of 8 bits.
  bool attends_in_eight_bits = false;
  // All-reduces in which the switch adds (multimem), and in which the ranks add.
  bool reduces_in_switch = false, reduces_in_ranks = false;
};
KernelFormats KernelFormatsOf(const PreparedTrace& prepared);

// The share of an all-reduce's data that must go over the links of each of `ranks` ranks, in the
// direction that carries more: 2(n-1)/n, or (n+1)/n if the switch adds: each rank sends its data
// once and the sum of its part once. The smaller one if the trace has both kinds. 0 for one rank.
double LinkShare(const KernelFormats& kernels, int64_t ranks);

}  // namespace tacho
