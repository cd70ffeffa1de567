#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace tacho {

// Adds `more`, if present, to `sum`. `sum` is absent until the first value is added.
inline void AddCounted(std::optional<int64_t>& sum, std::optional<int64_t> more) {
  if (more) sum = AddSaturated(sum.value_or(0), *more);
}

}  // namespace tacho
