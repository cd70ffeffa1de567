#pragma once

#include <string>

#include "analysis/analyze.h"
#include "serve/served_run.h"
#include "text/json_writer.h"
#include "view/viewed_run.h"

namespace tacho {

// What API.md calls `meta`.
std::string MetaJson(const ServedRun& run);
// What it calls `api/v1/summary`, of a run that is done.
std::string SummaryJson(const ServedRun& run, const RunAnalysis& analysis);

// Members of the object that is open: of an entry of `meta.ranks`, and of `meta.read`. `analysis`:
// of the rank's trace, null where there is none yet.
void WriteRankJson(JsonWriter& json, const RankEntry& entry, const TraceAnalysis* analysis);
void WriteReadJson(JsonWriter& json, const ServedRun& run);

}  // namespace tacho
