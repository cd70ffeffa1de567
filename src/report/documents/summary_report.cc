#include "report/documents/summary_report.h"
#include "report/words/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/index/gpu_scope.h"
#include "analysis/schema/trace_fields.h"
#include "report/json/analyze_json.h"
#include "text/format_number.h"

namespace tacho {
namespace {

// The table of names. `keep`: how many rows are shown. Only names in shown rows are shortened,
// because there may be millions of names.
Table NamesTable(const std::vector<TraceSummary::NameRow>& rows, size_t keep, bool kernels,
                 const TextStyle& style, std::string title) {
  Table table{"names",
              {TableColumn{"name", std::move(title)}.Stretches().Distinct(),
               TableColumn{"total_ns", "total", Unit::kDuration}.Adds().UnitGroup(1),
               TableColumn{"share", "", Unit::kShare}.Adds(),
               TableColumn{"count", "count", Unit::kCount}.Adds(),
               TableColumn{"min_ns", "min", Unit::kDuration},
               TableColumn{"max_ns", "max", Unit::kDuration}},
              {}};
  DurationNs total;
  std::vector<std::string_view> names;
  for (const TraceSummary::NameRow& row : rows) {
    total += row.total;
    if (names.size() <= keep) names.push_back(row.name);
  }
  std::vector<std::string> shown(names.begin(), names.end());
  if (kernels) shown = ShownKernelNames(names, style);
  shown.resize(rows.size());
  for (const TraceSummary::NameRow& row : rows) {
    table.Add({std::move(shown[table.rows.size()]), row.total.ns, ShareOf(row.total, total),
               static_cast<int64_t>(row.count), row.min.ns, row.max.ns});
  }
  FoldRows(table, keep);
  return table;
}

Table DevicesTable(const std::vector<TraceSummary::DeviceRow>& rows) {
  Table table{"devices",
              {TableColumn{"device", "DEVICES"}.Stretches(),
               TableColumn{"gpu_events", "events", Unit::kCount},
               TableColumn{"window_ns", "window", Unit::kDuration},
               TableColumn{"gpu_sum_ns", "sum of work", Unit::kDuration}},
              {}};
  for (const TraceSummary::DeviceRow& row : rows) {
    table.Add(
        {row.device, static_cast<int64_t>(row.gpu_events), row.window.length().ns, row.sum.ns});
  }
  return table;
}

Table CategoriesTable(const TraceSummary& trace) {
  Table table{"events",
              {TableColumn{"category", "EVENTS BY CATEGORY"}.Stretches(),
               TableColumn{"count", "count", Unit::kCount}.Adds()},
              {}};
  std::vector<std::pair<std::string, uint64_t>> rows = trace.by_category;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [category, count] : rows) table.Add({category, static_cast<int64_t>(count)});
  return table;
}

void AddTrace(Document& document, const TraceSummary& trace, const ScreenOptions& options) {
  std::vector<std::string> facts;
  if (trace.rank) {
    facts.push_back(fmt::format("rank {}", *trace.rank) +
                    (trace.world_size ? fmt::format(" of {}", *trace.world_size) : ""));
  }
  if (!trace.header.vllm_version.empty()) facts.push_back("vLLM " + trace.header.vllm_version);
  facts.push_back(FormatCounted(trace.events, "event"));
  facts.push_back(
      fmt::format("{} ({} of JSON)", FormatBytes(trace.bytes), FormatBytes(trace.json_bytes)));
  if (!trace.span.empty())
    facts.push_back(FormatDuration(trace.span.length()) + " from first to last event");
  document.Add(
      Subject{"trace", trace.path, {fmt::format("{}", fmt::join(facts, options.style.dot()))}});
  document.Add(Labelled{
      "summary",
      {"totals only, in one pass: sums count overlap twice, missing work is not looked for"}});
  document.AddPart(TitledTable{DevicesTable(trace.devices)});
  document.AddPart(TitledTable{.table = CategoriesTable(trace), .screen_rows = options.top});
  document.AddPart(
      TitledTable{NamesTable(trace.gpu_work, options.top, true, options.style, "GPU WORK")});
  document.AddPart(TitledTable{
      NamesTable(trace.host_ops, options.top, false, options.style, "HOST OPERATORS (total)")});
  if (trace.notes.list().empty()) return;
  document.AddPart(Heading{Heading::Level::kPart, "Notes"});
  for (const Note& note : trace.notes.list()) document.Add(NoteRemark(note, trace.notes));
  document.Append(ProducerLines({&trace.header}));
}

void WriteNames(JsonWriter& json, std::string_view key, std::string_view total_key,
                const std::vector<TraceSummary::NameRow>& rows) {
  json.Rows(key, rows, [&](const TraceSummary::NameRow& row) {
    json.Fields("name", row.name, "count", row.count, total_key, row.total, "min_ns", row.min,
                "max_ns", row.max);
  });
}

void WriteTrace(JsonWriter& json, const TraceSummary& trace) {
  json.BeginObject();
  json.Fields("path", trace.path, "format", TraceFormatName(trace.header.format), "bytes",
              trace.bytes, "json_bytes", trace.json_bytes, "rank", trace.rank, "world_size",
              trace.world_size);
  if (!trace.header.vllm_version.empty()) {
    json.Fields("engine", "vllm", "engine_version", trace.header.vllm_version);
  }
  json.Field("base_time_ns", trace.base_time_ns);
  schema::Span(json, trace.span);
  schema::Events(json, trace.events, trace.by_phase, trace.by_category);
  schema::NoteRows(json, trace.notes);
  json.Rows("devices", trace.devices, [&](const TraceSummary::DeviceRow& row) {
    json.Fields("device", row.device, "gpu_events", row.gpu_events, "window_start_ns",
                row.window.start, "window_ns", row.window.length(), "gpu_sum_ns", row.sum);
  });
  WriteNames(json, "gpu_work", "total_ns", trace.gpu_work);
  WriteNames(json, "ops", "cpu_total_ns", trace.host_ops);
  json.End();
}

}  // namespace

std::string SummaryText(const RunSummary& run, const ScreenOptions& options) {
  Document document;
  for (const TraceSummary& trace : run.traces) {
    if (!document.blocks.empty()) document.Add(Gap{});
    AddTrace(document, trace, options);
  }
  if (!run.skipped.empty() || !run.captures.empty()) document.Add(Gap{});
  document.Append(LeftOutFiles(run.skipped, run.captures));
  return RenderText(std::move(document), options.style);
}

std::string SummaryJson(const RunSummary& run, std::string_view version,
                        const std::vector<std::string>& incomplete) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, version, schema::kVersion);
  json.Field("summary", true);
  json.BeginArray("traces");
  for (const TraceSummary& trace : run.traces) WriteTrace(json, trace);
  json.End();
  json.List("skipped", run.skipped);
  if (!run.captures.empty()) json.List("captures", run.captures);
  if (!incomplete.empty()) json.List("incomplete", incomplete);
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
