#pragma once

#include "analysis/ranks/ranks.h"
#include "text/json_writer.h"

namespace tacho {

// Whom the ranks of a run waited for: `ranks.blame` of docs/json.md.
void WriteBlameJson(JsonWriter& json, const RankTable& ranks);

}  // namespace tacho
