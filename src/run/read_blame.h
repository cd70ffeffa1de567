#pragma once

#include "analysis/ranks/blame.h"
#include "io/json_reader.h"

namespace tacho {

// Reads `blame` in the object `ranks` of results (docs/json.md), which must be open. If it is
// absent, the result has kNoEvents. `rows`: the number of ranks; a rank with a higher index makes
// the field unreadable.
RankBlame ReadBlame(JsonReader& reader, size_t rows);

}  // namespace tacho
