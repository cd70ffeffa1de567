#pragma once

#include "analysis/ranks/blame.h"
#include "io/json_reader.h"

namespace tacho {

// Reads `blame` of the open object `ranks` of results (docs/json.md); kNoEvents if it is absent.
// Indexes of ranks are below `rows`, else the field is refused.
RankBlame ReadBlame(JsonReader& reader, size_t rows);

}  // namespace tacho
