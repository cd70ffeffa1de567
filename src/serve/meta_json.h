#pragma once

#include <string>

#include "analysis/analyze.h"
#include "serve/served_run.h"
#include "text/json_writer.h"
#include "view/viewed_run.h"

namespace tacho {

// What API.md calls `meta`.
std::string MetaJson(const ServedRun& run);
// What API.md calls `api/v1/summary`, for a run that is done.
std::string SummaryJson(const ServedRun& run, const RunAnalysis& analysis);

// Write the members of an entry of `meta.ranks`, and of `meta.read`, into the open object.
// `analysis`: of the rank's trace; null if not available yet.
void WriteRankJson(JsonWriter& json, const RankEntry& entry, const TraceAnalysis* analysis);
void WriteReadJson(JsonWriter& json, const ServedRun& run);

}  // namespace tacho
