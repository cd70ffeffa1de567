#include "report/summary_report.h"
#include "report/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/gpu_scope.h"
#include "report/analyze_json.h"
#include "report/analyze_text.h"
#include "text/distinct_text.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

// Folded to `keep` rows. A name is made short only where it is shown: there may be millions.
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

std::string TraceText(const TraceSummary& trace, const ScreenOptions& options) {
  const TextStyle& style = options.style;
  std::string header;
  const auto add = [&](const std::string& part) {
    header += (header.empty() ? "" : std::string(style.dot())) + part;
  };
  if (trace.rank) {
    add(fmt::format("rank {}", *trace.rank) +
        (trace.world_size ? fmt::format(" of {}", *trace.world_size) : ""));
  }
  if (!trace.vllm_version.empty()) add("vLLM " + VisibleText(trace.vllm_version));
  add(FormatCounted(trace.events, "event"));
  add(fmt::format("{} ({} of JSON)", FormatBytes(static_cast<int64_t>(trace.bytes)),
                  FormatBytes(static_cast<int64_t>(trace.json_bytes))));
  if (!trace.span.empty()) add(FormatDuration(trace.span.length()) + " from first to last event");
  std::string out = Labelled("trace", VisibleText(trace.path, style.unicode), Paint::kBold, style);
  out += Labelled("", header, Paint::kPlain, style);
  out +=
      Labelled("summary", "totals only, read in one pass without a model: sums count overlap twice",
               Paint::kPlain, style);
  out += Section(DevicesTable(trace.devices), trace.devices.size(), style);
  out += Section(CategoriesTable(trace), options.top, style);
  out += Section(NamesTable(trace.gpu_work, options.top, true, style, "GPU WORK"), options.top + 1,
                 style);
  out += Section(NamesTable(trace.host_ops, options.top, false, style, "HOST OPERATORS (total)"),
                 options.top + 1, style);
  if (!trace.notes.list().empty()) out += "\n" + Painted(" NOTES", Paint::kBold, style) + "\n";
  for (const Note& note : trace.notes.list()) out += NoteLines(note, "", style);
  return out;
}

void WriteNames(JsonWriter& json, std::string_view key, std::string_view total_key,
                const std::vector<TraceSummary::NameRow>& rows) {
  json.BeginArray(key);
  for (const TraceSummary::NameRow& row : rows) {
    json.BeginRow();
    json.Field("name", row.name);
    json.Field("count", row.count);
    json.Field(total_key, row.total);
    json.Field("min_ns", row.min);
    json.Field("max_ns", row.max);
    json.End();
  }
  json.End();
}

void WriteTrace(JsonWriter& json, const TraceSummary& trace) {
  json.BeginObject();
  json.Field("path", trace.path);
  json.Field("format", "kineto");
  json.Field("bytes", trace.bytes);
  json.Field("json_bytes", trace.json_bytes);
  json.Field("rank", trace.rank);
  json.Field("world_size", trace.world_size);
  if (!trace.vllm_version.empty()) {
    json.Field("engine", "vllm");
    json.Field("engine_version", trace.vllm_version);
  }
  json.Field("base_time_ns", trace.base_time_ns);
  WriteSpanJson(json, trace.span);
  WriteEventsJson(json, trace.events, trace.by_phase, trace.by_category);
  WriteNotesJson(json, trace.notes);
  json.BeginArray("devices");
  for (const TraceSummary::DeviceRow& row : trace.devices) {
    json.BeginRow();
    json.Field("device", row.device);
    json.Field("gpu_events", row.gpu_events);
    json.Field("window_start_ns", row.window.start);
    json.Field("window_ns", row.window.length());
    json.Field("gpu_sum_ns", row.sum);
    json.End();
  }
  json.End();
  WriteNames(json, "gpu_work", "total_ns", trace.gpu_work);
  WriteNames(json, "ops", "cpu_total_ns", trace.host_ops);
  json.End();
}

}  // namespace

std::string SummaryText(const RunSummary& run, const ScreenOptions& options) {
  std::string out;
  for (const TraceSummary& trace : run.traces) {
    if (!out.empty()) out += "\n";
    out += TraceText(trace, options);
  }
  if (const std::string skipped = SkippedText(run.skipped, options.style); !skipped.empty())
    out += "\n" + skipped;
  return out;
}

std::string SummaryJson(const RunSummary& run, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, version);
  json.Field("summary", true);
  json.BeginArray("traces");
  for (const TraceSummary& trace : run.traces) WriteTrace(json, trace);
  json.End();
  json.Texts("skipped", run.skipped);
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
