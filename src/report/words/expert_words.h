#pragma once

#include <string>

#include "analysis/ranks/ranks.h"

namespace tacho {

// What uneven experts cost: "grouped GEMMs: those of TP3 take 266 us a step longer than the mean of
// the others, who each wait 241 us a step for them; equal experts would save up to 233 us a step
// (imbalance 1.09)". If no rank stands out, it says only what equal experts would save. "" if
// waiting for grouped GEMMs is less than 1 % of the ranks' time.
std::string ExpertsText(const RankTable& ranks);

}  // namespace tacho
