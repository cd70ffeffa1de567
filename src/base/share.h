#pragma once

#include "base/time.h"

namespace tacho {

// `part` as a share of `whole`, from 0 to 1 if it is a part of it; 0 if `whole` is 0.
constexpr double ShareOf(DurationNs part, DurationNs whole) {
  return whole.ns == 0 ? 0 : static_cast<double>(part.ns) / static_cast<double>(whole.ns);
}

}  // namespace tacho
