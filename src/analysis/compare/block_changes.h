#pragma once

#include "analysis/compare/block_change.h"
#include "analysis/compare/compared_ranks.h"
#include "analysis/compare/step_differences.h"

namespace tacho {

// Compares the blocks of the model in the steps of one phase. `batches`: the groups that both sides
// have; those with two steps with layers on each side are compared, weighted by base's steps with
// layers. `device` and `gap` of all blocks add up to `span`, `device` and `overlap` to `work`.
// Bounds as in kernel_changes.h, at once for all blocks, and at once for all layers of all blocks.
// Cost: O(blocks * layers * batches * traces).
BlocksChange CompareBlocks(const ComparedRanks& ranks, Phase phase, const SharedBatches& batches,
                           double spread);

}  // namespace tacho
