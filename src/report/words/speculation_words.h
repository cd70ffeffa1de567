#pragma once

#include <string>

#include "analysis/speculation/speculation.h"

namespace tacho {

// What speculative decoding costs a step, and how many tokens it must bring: "speculative decoding:
// 8.0 requests and 4.0 tokens of each in a step take ...". "" without steps that verify.
std::string SpeculationText(const Speculation& of);

}  // namespace tacho
