#pragma once

#include <string>

#include "analysis/opportunities/opportunities.h"

namespace tacho {

// The first screen and the page show opportunities of at least this share.
inline constexpr double kLeastShownShare = 0.01;

// What the work is: short names of the kernels, or the two sides. `base`: names without namespaces
// and arguments.
std::string OpportunityText(const Opportunity& of, bool base);

}  // namespace tacho
