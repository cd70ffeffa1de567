#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "text/json_writer.h"

namespace tacho {

// The JSON contract of `tacho analyze --json`, schema 1: docs/json.md says what each field is.
// Every time is an integer in nanoseconds; what is not known is absent. `version` is tacho's own.
std::string AnalyzeJson(const RunAnalysis& run, std::string_view version);

// Its parts that the summary writes too (summary_report.h).
inline constexpr int kJsonSchema = 1;
void WriteTachoJson(JsonWriter& json, std::string_view version);
void WriteSpanJson(JsonWriter& json, Interval span);
using NamedCounts = std::vector<std::pair<std::string, uint64_t>>;
void WriteEventsJson(JsonWriter& json, uint64_t total, const NamedCounts& by_phase,
                     const NamedCounts& by_category);
void WriteNotesJson(JsonWriter& json, const Notes& notes);

// One trace's tables, members of the object that is open (trace_tables_json.cc).
void WriteTraceTablesJson(JsonWriter& json, const TraceAnalysis& trace);

}  // namespace tacho
