#include "report/analyze_json.h"

#include <fmt/format.h>

#include <map>

#include "base/utf8.h"
#include "report/findings_json.h"

namespace tacho {
namespace {

void WriteHeader(JsonWriter& json, const TraceAnalysis& trace) {
  json.Field("path", trace.path);
  json.Field("format", "kineto");
  json.Field("bytes", trace.bytes);
  json.Field("json_bytes", trace.json_bytes);
  json.Field("rank", trace.facts.rank);
  json.Field("world_size", trace.facts.world_size);
  WriteIdentityJson(json, trace.facts.identity);
  json.FieldUnlessEmpty("engine", trace.facts.engine);
  json.FieldUnlessEmpty("engine_version", trace.facts.engine_version);
  if (trace.header.base_time_ns >= 0) json.Field("base_time_ns", trace.header.base_time_ns);
  WriteSpanJson(json, trace.span);
  if (trace.scope.window || !trace.scope.device.empty()) {
    json.BeginRow("scope");
    if (trace.scope.window) {
      json.Field("start_ns", trace.scope.window->start);
      json.Field("end_ns", trace.scope.window->end);
    }
    json.FieldUnlessEmpty("device", trace.scope.device);
    json.End();
  }
}

void WriteDeviceProperties(JsonWriter& json, const std::vector<DeviceProperties>& devices) {
  json.BeginArray("devices");
  for (const DeviceProperties& device : devices) {
    json.BeginRow();
    json.Field("id", device.id);
    json.FieldUnlessEmpty("name", device.name);
    if (device.total_memory_bytes > 0) json.Field("total_memory_bytes", device.total_memory_bytes);
    if (device.num_sms > 0) json.Field("num_sms", device.num_sms);
    if (device.compute_major > 0) {
      json.Field("compute_capability",
                 fmt::format("{}.{}", device.compute_major, device.compute_minor));
    }
    json.End();
  }
  json.End();
}

void WriteFacts(JsonWriter& json, const TraceAnalysis& trace) {
  const TraceHeader& header = trace.header;
  const TraceFacts& facts = trace.facts;
  json.BeginObject("facts");
  json.Field("role", TraceRoleName(facts.role));
  json.FieldUnlessEmpty("stage", facts.stage);
  json.FieldUnlessEmpty("backend", header.backend);
  if (header.process_group_count >= 0) json.Field("process_groups", header.process_group_count);
  json.FieldUnlessEmpty("nccl_version", header.nccl_version);
  json.FieldUnlessEmpty("cuda_runtime_version", header.cuda_runtime_version);
  json.FieldUnlessEmpty("cuda_driver_version", header.cuda_driver_version);
  json.Texts("process_names", facts.process_names);
  json.Texts("options", facts.options);
  json.Texts("cannot_tell", facts.cannot_tell);
  json.Texts("producer_log", header.producer_log);
  WriteDeviceProperties(json, header.devices);
  json.End();
}

}  // namespace

void WriteTachoJson(JsonWriter& json, std::string_view version) {
  json.Field("schema", kJsonSchema);
  json.BeginRow("tacho");
  json.Field("version", version);
  json.End();
}

void WriteSpanJson(JsonWriter& json, Interval span) {
  if (span.end < span.start || span == Interval{}) return;
  json.BeginRow("span");
  json.Field("first_ns", span.start);
  json.Field("last_ns", span.end);
  json.End();
}

void WriteEventsJson(JsonWriter& json, uint64_t total, const NamedCounts& by_phase,
                     const NamedCounts& by_category) {
  const auto write = [&](std::string_view key, const NamedCounts& counts) {
    // Names that differ only in bytes that are not UTF-8 would be equal keys.
    std::map<std::string, uint64_t> printed;
    for (const auto& [name, count] : counts) printed[ValidUtf8(name)] += count;
    json.BeginRow(key);
    for (const auto& [name, count] : printed) json.Field(name, count);
    json.End();
  };
  json.BeginObject("events");
  json.Field("total", total);
  write("by_phase", by_phase);
  write("by_category", by_category);
  json.End();
}

void WriteNotesJson(JsonWriter& json, const Notes& notes) {
  json.BeginArray("notes");
  for (const Note& note : notes.list()) {
    const NoteKind& kind = KindOf(note.id);
    json.BeginRow();
    json.Field("id", kind.id);
    json.Field("severity", SeverityName(kind.severity));
    json.Field("count", note.count);
    json.FieldUnlessEmpty("where", note.where);
    json.Field("text", kind.text);
    json.Field("remedy", kind.remedy);
    json.End();
  }
  json.End();
}

std::string AnalyzeJson(const RunAnalysis& run, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, version);
  WriteVerdictJson(json, run);
  json.BeginArray("traces");
  for (const TraceAnalysis& trace : run.traces) {
    json.BeginObject();
    WriteHeader(json, trace);
    WriteEventsJson(json, trace.counts.total, trace.facts.by_phase, trace.facts.by_category);
    WriteNotesJson(json, trace.notes);
    WriteFacts(json, trace);
    WriteTraceTablesJson(json, trace);
    json.End();
  }
  json.End();
  if (!run.ranks.rows.empty()) WriteRanksJson(json, run.ranks);
  json.Texts("skipped", run.skipped);
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
