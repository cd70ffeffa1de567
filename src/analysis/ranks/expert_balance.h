#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/comm_groups.h"
#include "analysis/ranks/skew_charges.h"

namespace tacho {

// How evenly the experts of a model are spread over ranks, and what it costs: the ranks meet again
// after the grouped GEMMs of a layer, and wait for the one whose GEMMs took longest. Such waits
// look like communication: they lie in the collective that follows, whether it sends the results
// back (combine), adds them up (all-reduce) or is a barrier.
//
// A layer is a matched collective with grouped GEMMs before it: on at least one of its devices,
// they ran after the end of that device's previous matched collective. What runs while a collective
// runs is not counted (lead_ups.h).
struct ExpertBalance {
  struct Row {
    size_t rank = 0;     // index into the ranks
    size_t layers = 0;   // that it took part in
    size_t longest = 0;  // in how many of them its grouped GEMMs took longest
    size_t others = 0;   // number of other ranks that it shares layers with
    DurationNs gemms;
    // How much longer its grouped GEMMs took than the mean of the others', summed; below 0: less
    // long. Over the rows this adds up to 0, but for rounding.
    DurationNs longer;
    DurationNs caused;  // waits charged to its grouped GEMMs (skew_charges.h)
    // It is the slowest again and again, by 2 % or more, and most waits of this kind are for it.
    bool stands_out = false;
  };

  size_t layers = 0;
  size_t exchanged = 0;  // of `layers`: those that end in a collective of an expert-parallel group
  size_t steps = 0;      // the most engine steps that a rank recorded; 0: unknown
  // Over the layers: the longest time of a rank, and how much longer it is than the mean. With
  // equal experts each layer would be shorter by the difference, at most.
  DurationNs slowest, above_mean;
  DurationNs waits;        // charged to grouped GEMMs, over all ranks: the sum of Row::caused
  std::vector<Row> table;  // by rank; empty: no grouped GEMM ran before a matched collective

  // The longest time over the mean time, summed over the layers: 1 or more; 0 without layers.
  [[nodiscard]] double imbalance() const;
  // The mean of `of` a step; nullopt if `steps` is unknown.
  [[nodiscard]] std::optional<DurationNs> a_step(DurationNs of) const;
  // How long each of the others waited in a step, on average, for the grouped GEMMs of this rank.
  [[nodiscard]] std::optional<DurationNs> cost_a_step(const Row& row) const;
};

// `categories`: as in the digests. `names` has the ranks of `matched`. The order of ranks changes
// nothing. Cost: that of reading the lead-ups of all parts once. Memory: 8 bytes a layer.
ExpertBalance BalanceExperts(const MatchedCollectives& matched, const SkewEvents& events,
                             const SkewCharges& charges, const CommGroups& names,
                             const std::vector<std::string>& categories);

}  // namespace tacho
