#pragma once

#include <array>
#include <string>

#include "analysis/compare/run_changes.h"

namespace tacho {

// Words for comparisons by block of the model, and across engines and GPUs.

// How the two sides are called: "base" and "new"; across engines or GPUs by these, if they differ
// and are known: "vllm" and "sglang", "H100" and "B200".
std::array<std::string, 2> SideNames(const RunChanges& changes);

// In which layers a block changed, for a column "layers": "32 x +1.20 us", or "17: +10.0 us" if
// layer 17 alone did; "" for a block outside of layers.
std::string BlockLayersText(const BlockChange& block);

// If the step changed mostly by overlap: ": 310 us of overlap lost in experts and shared-expert,
// while all work adds up to as much (+0.12 % ± 0.50 %)"; else "". Names the blocks that make most
// of it.
std::string OverlapInWords(const PhaseChange& phase);

// The phase with the parts that engines and GPUs have in common: blocks of the model, if they are
// known, and causes of idle time.
PhaseChange OfCommonParts(const PhaseChange& phase);

}  // namespace tacho
