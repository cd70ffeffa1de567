#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/comm_groups.h"
#include "analysis/ranks/skew_charges.h"

namespace tacho {

// How evenly the work of a model's experts is spread over ranks, and what the imbalance costs.
// After the grouped GEMMs of a layer, the ranks meet in a collective and wait for the rank whose
// GEMMs took longest. These waits look like communication: they lie in that collective, whether it
// sends the results back (combine), adds them up (all-reduce) or is a barrier.
//
// A layer is a matched collective with grouped GEMMs before it: on at least one of its devices,
// they ran after the end of that device's previous matched collective. What runs while a collective
// runs is not counted (lead_ups.h).
struct ExpertBalance {
  struct Row {
    size_t rank = 0;     // index into the ranks of `matched`
    size_t layers = 0;   // number of layers in which it took part
    size_t longest = 0;  // in how many of them its grouped GEMMs took longest
    size_t others = 0;   // number of other ranks with which it shares layers
    DurationNs gemms;    // time of its grouped GEMMs
    // How much longer its grouped GEMMs took than the mean of the other ranks, summed over layers;
    // negative: shorter. The rows add up to 0, except for rounding.
    DurationNs longer;
    DurationNs caused;  // waits of others that are charged to its grouped GEMMs (skew_charges.h)
    // Its GEMMs took longer than those of the other ranks again and again, by 2 % or more in all,
    // and it caused clearly more than its fair share of the waits for grouped GEMMs.
    bool stands_out = false;
  };

  size_t layers = 0;
  size_t exchanged = 0;  // how many layers end in a collective of an expert-parallel group
  size_t steps = 0;      // the most engine steps that a rank recorded; 0: unknown
  // Summed over layers: the GEMM time of the slowest rank, and by how much it exceeds the mean.
  // With evenly loaded experts, the layers would be shorter by `above_mean` at most.
  DurationNs slowest, above_mean;
  DurationNs waits;        // waits charged to grouped GEMMs: the sum of Row::caused
  std::vector<Row> table;  // sorted by rank; empty if no layer was found

  // `slowest` divided by the mean GEMM time: 1 or more; 0 without layers.
  [[nodiscard]] double imbalance() const;
  // `of` divided by the number of steps; nullopt if `steps` is unknown.
  [[nodiscard]] std::optional<DurationNs> a_step(DurationNs of) const;
  // How long each other rank waited in a step, on average, for the grouped GEMMs of this rank.
  [[nodiscard]] std::optional<DurationNs> cost_a_step(const Row& row) const;
};

// `categories`: TraceDigest::categories. `names` must have the ranks of `matched`. The order of
// ranks changes nothing. Cost: that of reading the lead-ups of all parts. Memory: 8 bytes a layer.
ExpertBalance BalanceExperts(const MatchedCollectives& matched, const SkewEvents& events,
                             const SkewCharges& charges, const CommGroups& names,
                             const std::vector<std::string>& categories);

}  // namespace tacho
