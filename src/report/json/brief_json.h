#pragma once

#include <string>

#include "analysis/analyze.h"
#include "text/json_writer.h"

namespace tacho {

// The verdict of a run as data: `verdict` of docs/json.md. Nothing for a run without traces.
void WriteVerdictJson(JsonWriter& json, const RunAnalysis& run);

// Who wrote a trace: `identity` of docs/json.md; nothing where nothing is known.
void WriteIdentityJson(JsonWriter& json, const RankIdentity& identity);

// The ranks of a run side by side: `ranks` of docs/json.md.
void WriteRanksJson(JsonWriter& json, const RankTable& ranks);

// A run in brief, with `verdict`, as an object: what run.json holds of it (docs/json.md). Its
// size grows only with the number of ranks.
std::string BriefJson(const RunAnalysis& run);

}  // namespace tacho
