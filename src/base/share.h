#pragma once

#include "base/time.h"

namespace tacho {

// part / whole as a number; 0 if `whole` is 0.
constexpr double ShareOf(DurationNs part, DurationNs whole) {
  return whole.ns == 0 ? 0 : static_cast<double>(part.ns) / static_cast<double>(whole.ns);
}

}  // namespace tacho
