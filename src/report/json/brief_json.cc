#include "report/json/brief_json.h"

#include <iterator>
#include <utility>

#include "report/json/run_fields.h"
#include "report/tables/result_tables.h"

namespace tacho {
namespace {

constexpr size_t kMostKernels = 20;  // most kernels in BriefJson

void WriteDevices(JsonWriter& json, const DeviceTotals& totals) {
  json.BeginRow("device_time");
  json.Field("devices", totals.devices);
  if (totals.on_host) json.Field("on_host", true);
  schema::Times(json, totals);
  json.End();
}

}  // namespace

namespace schema {

std::set<int64_t> FirstOf(const MissingRanks& missing) {
  std::set<int64_t> ranks;
  for (const RankRange& range : missing.ranks) {
    for (int64_t rank = range.first; rank <= range.last && ranks.size() < kMostMissing; ++rank)
      ranks.insert(rank);
  }
  return ranks;
}

std::set<int64_t> FirstOf(const std::vector<MissingRanks>& missing) {
  std::set<int64_t> ranks;
  for (const MissingRanks& engine : missing) ranks.merge(FirstOf(engine));
  if (ranks.size() > kMostMissing) ranks.erase(std::next(ranks.begin(), kMostMissing), ranks.end());
  return ranks;
}

}  // namespace schema

std::string BriefJson(const RunAnalysis& run) {
  const RunTotals totals = TotalsOf(run);
  const TextStyle style;
  JsonWriter json;
  json.BeginObject();
  schema::Verdict(json, run);
  json.BeginObject("analysis");
  json.Field("traces", run.traces.size());
  uint64_t events = 0;
  for (const TraceAnalysis& trace : run.traces) events += trace.counts.total;
  json.Field("events", events);
  if (totals.devices.window.ns > 0) WriteDevices(json, totals.devices);
  WriteRowsJson(json, "idle", IdleCausesTable(totals.idle));
  WriteRowsJson(json, "categories", CategoriesTable(totals.kernels));
  WriteRowsJson(json, "kernels", KernelsTable(totals.kernels, totals.devices, style), kMostKernels);
  WriteRowsJson(json, "copies", CopiesTable(totals.copies));
  const TraceAnalysis* const only = run.traces.empty() ? nullptr : OnlyTrace(run);
  if (only != nullptr || !run.ranks.rows.empty()) {
    const RankRow* const row = only == nullptr ? &RankOfSteps(run.ranks) : nullptr;
    json.BeginObject("steps");
    json.Field("name", UnlessEmpty(row == nullptr ? only->facts.identity.RankName()
                                                  : RankLabel(run.ranks, *row)));
    WriteRowsJson(json, "phases",
                  StepPhasesTable(row == nullptr ? only->steps : StepsOf(run, *row)));
    json.End();
  }
  if (!run.ranks.rows.empty()) schema::Ranks(json, run.ranks);
  json.End();
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
