#pragma once

#include <string>

#include "analysis/analyze.h"
#include "serve/served_run.h"
#include "text/json_writer.h"
#include "view/viewed_run.h"

namespace tacho {

// The JSON that API.md calls `meta`.
std::string MetaJson(const ServedRun& run);
// The JSON that API.md calls `api/v1/summary`, for a run that is completely read.
std::string SummaryJson(const ServedRun& run, const RunAnalysis& analysis);

// These write members into the open JSON object: WriteRankJson those of one entry of `meta.ranks`,
// WriteReadJson those of `meta.read`. `analysis`: the analysis of the rank's trace; null if there
// is none yet.
void WriteRankJson(JsonWriter& json, const RankEntry& entry, const TraceAnalysis* analysis);
void WriteReadJson(JsonWriter& json, const ServedRun& run);

}  // namespace tacho
