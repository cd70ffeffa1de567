#include "cli/baseline/baseline_list.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "analysis/compare/comparable.h"
#include "report/documents/report_parts.h"
#include "report/json/analyze_json.h"

namespace tacho {
namespace {

int64_t BytesIn(const std::vector<std::string>& folders) {
  int64_t bytes = 0;
  std::error_code error;
  for (const std::string& folder : folders) {
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      if (const auto size = at->file_size(error); !error) bytes += static_cast<int64_t>(size);
    }
  }
  return bytes;
}

// The time in UTC: "2026-11-24 13:23".
std::string DateText(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "";
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts)};
}

}  // namespace

ListedBaseline ListedBaselineOf(const BaselinePlace& place, const std::vector<RunAnalysis>& runs) {
  ListedBaseline listed;
  listed.name = place.name;
  listed.path = place.path();
  const SideFacts facts = FactsOf(runs);
  listed.engine = facts.engine;
  listed.engine_version = facts.version;
  listed.ranks = facts.ranks;
  for (const RunAnalysis& run : runs) {
    for (const TraceAnalysis& trace : run.traces) {
      if (!IsWorker(trace)) continue;
      listed.steps += trace.steps.steps.size();
      if (trace.header.base_time_ns < 0) continue;
      const int64_t began = trace.header.base_time_ns + trace.span.start.ns;
      listed.recorded_unix_ns = std::min(listed.recorded_unix_ns.value_or(began), began);
    }
  }
  const std::vector<std::string> folders = RunsOfBaseline(listed.path);
  listed.runs = folders.size();
  listed.bytes = BytesIn(folders);
  return listed;
}

Table BaselinesTable(const std::vector<ListedBaseline>& baselines) {
  using enum Unit;
  using Col = TableColumn;
  Table table{
      "baselines",
      {Col{"name", "baseline", kText}.Stretches(), Col{"recorded", "recorded (UTC)", kText},
       Col{"engine", "engine", kText}, Col{"runs", "runs", kCount}, Col{"ranks", "ranks", kCount},
       Col{"steps", "steps", kCount}, Col{"bytes", "size", kBytes}},
      {}};
  for (const ListedBaseline& one : baselines) {
    TraceFacts engine;
    engine.engine = one.engine;
    engine.engine_version = one.engine_version;
    table.Add({one.name, one.recorded_unix_ns ? DateText(*one.recorded_unix_ns) : "",
               EngineText(engine), CountCell(one.runs), CountCell(one.ranks), CountCell(one.steps),
               one.bytes});
  }
  return table;
}

std::string BaselinesJson(const std::vector<ListedBaseline>& baselines, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, version);
  json.Rows("baselines", baselines, [&](const ListedBaseline& one) {
    json.Fields("name", one.name, "path", one.path, "recorded_unix_ns", one.recorded_unix_ns,
                "engine", UnlessEmpty(one.engine), "engine_version",
                UnlessEmpty(one.engine_version), "runs", one.runs, "ranks", one.ranks, "steps",
                one.steps, "bytes", one.bytes);
  });
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
