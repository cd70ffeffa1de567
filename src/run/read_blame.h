#pragma once

#include "analysis/ranks/blame.h"
#include "io/json_reader.h"

namespace tacho {

// Reads `blame` in the object `ranks` of results (docs/json.md), which must be open; kNoEvents if
// it is absent. `rows`: the number of ranks. An index of a rank beyond that makes the field
// unreadable.
RankBlame ReadBlame(JsonReader& reader, size_t rows);

}  // namespace tacho
