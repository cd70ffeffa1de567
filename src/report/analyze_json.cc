#include "report/analyze_json.h"

#include <fmt/format.h>

#include <map>

#include "base/utf8.h"
#include "report/brief_json.h"

namespace tacho {
namespace {

void WriteHeader(JsonWriter& json, const TraceAnalysis& trace) {
  json.Fields("path", trace.path, "format", "kineto", "bytes", trace.bytes, "json_bytes",
              trace.json_bytes, "rank", trace.facts.rank, "world_size", trace.facts.world_size);
  WriteIdentityJson(json, trace.facts.identity);
  json.Fields("engine", UnlessEmpty(trace.facts.engine), "engine_version",
              UnlessEmpty(trace.facts.engine_version));
  if (trace.header.base_time_ns >= 0) json.Field("base_time_ns", trace.header.base_time_ns);
  WriteSpanJson(json, trace.span);
  if (trace.scope.window || !trace.scope.device.empty()) {
    json.BeginRow("scope");
    if (trace.scope.window) {
      json.Fields("start_ns", trace.scope.window->start, "end_ns", trace.scope.window->end);
    }
    json.Field("device", UnlessEmpty(trace.scope.device));
    json.End();
  }
}

void WriteDeviceProperties(JsonWriter& json, const std::vector<DeviceProperties>& devices) {
  json.Rows("devices", devices, [&](const DeviceProperties& device) {
    json.Fields("id", device.id, "name", UnlessEmpty(device.name));
    if (device.total_memory_bytes > 0) json.Field("total_memory_bytes", device.total_memory_bytes);
    if (device.num_sms > 0) json.Field("num_sms", device.num_sms);
    if (device.compute_major > 0) {
      json.Field("compute_capability",
                 fmt::format("{}.{}", device.compute_major, device.compute_minor));
    }
  });
}

void WriteFacts(JsonWriter& json, const TraceAnalysis& trace) {
  const TraceHeader& header = trace.header;
  const TraceFacts& facts = trace.facts;
  json.BeginObject("facts");
  json.Fields("role", TraceRoleName(facts.role), "stage", UnlessEmpty(facts.stage), "backend",
              UnlessEmpty(header.backend));
  if (header.process_group_count >= 0) json.Field("process_groups", header.process_group_count);
  json.Fields("nccl_version", UnlessEmpty(header.nccl_version), "cuda_runtime_version",
              UnlessEmpty(header.cuda_runtime_version), "cuda_driver_version",
              UnlessEmpty(header.cuda_driver_version));
  json.List("process_names", facts.process_names);
  json.List("options", facts.options);
  json.List("cannot_tell", facts.cannot_tell);
  json.List("producer_log", header.producer_log);
  WriteDeviceProperties(json, header.devices);
  json.End();
}

}  // namespace

void WriteTachoJson(JsonWriter& json, std::string_view version) {
  json.Field("schema", kJsonSchema);
  json.Row("tacho", "version", version);
}

void WriteSpanJson(JsonWriter& json, Interval span) {
  if (span.end < span.start || span == Interval{}) return;
  json.Row("span", "first_ns", span.start, "last_ns", span.end);
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
  json.Rows("notes", notes.list(), [&](const Note& note) {
    const NoteKind& kind = KindOf(note.id);
    json.Fields("id", kind.id, "severity", SeverityName(kind.severity), "count", note.count,
                "where", UnlessEmpty(note.where), "text", kind.text, "remedy", kind.remedy);
  });
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
  json.List("skipped", run.skipped);
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
