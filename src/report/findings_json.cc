#include "report/findings_json.h"

#include <set>
#include <string_view>
#include <utility>

#include "report/device_totals.h"
#include "report/rank_text.h"
#include "report/result_tables.h"
#include "report/verdict.h"
#include "text/document.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kMostMissing = 1'000;  // ranks listed one by one
constexpr size_t kMostKernels = 20;     // of a run in brief

// The first of the ranks that an engine lacks.
std::set<int64_t> FirstOf(const MissingRanks& missing) {
  std::set<int64_t> ranks;
  for (const RankRange& range : missing.ranks) {
    for (int64_t rank = range.first; rank <= range.last && ranks.size() < kMostMissing; ++rank)
      ranks.insert(rank);
  }
  return ranks;
}

void WriteDevices(JsonWriter& json, const DeviceTotals& totals) {
  json.BeginRow("device_time");
  json.Field("devices", totals.devices);
  if (totals.on_host) json.Field("on_host", true);
  json.Field("window_ns", totals.window);
  json.Field("busy_ns", totals.busy);
  json.Field("idle_ns", totals.idle);
  json.Field("compute_ns", totals.compute);
  json.Field("exposed_comm_ns", totals.exposed_comm);
  json.Field("exposed_copy_ns", totals.exposed_copy);
  json.Field("kernel_sum_ns", totals.kernel_sum);
  json.Field("comm_busy_ns", totals.comm_busy);
  json.End();
}

void WriteStraggler(JsonWriter& json, const RankTable& ranks) {
  const std::optional<Straggler> straggler = FindStraggler(ranks);
  if (!straggler) return;
  const bool computes = straggler->sign == Straggler::Sign::kComputesLongest;
  json.BeginRow("straggler");
  json.Field("name", RankLabel(ranks, ranks.rows[straggler->row]));
  json.Field("path", ranks.rows[straggler->row].path);
  json.Field("sign", computes ? "computes-longest" : "least-collectives");
  json.Field("ns", straggler->time);
  json.Field("median_of_others_ns", straggler->others);
  json.End();
}

}  // namespace

void WriteIdentityJson(JsonWriter& json, const RankIdentity& identity) {
  const std::string name = identity.Name();
  if (name.empty()) return;
  json.BeginRow("identity");
  json.Field("name", name);
  json.FieldUnlessEmpty("worker", identity.worker);
  json.Field("data_parallel", identity.data_parallel);
  json.Field("pipeline", identity.pipeline);
  json.Field("tensor", identity.tensor);
  json.FieldUnlessEmpty("stage", identity.stage);
  json.End();
}

void WriteRanksJson(JsonWriter& json, const RankTable& ranks) {
  json.BeginObject("ranks");
  json.Field("world_size", ranks.world_size);
  json.BeginList("present");
  for (const int64_t rank : ranks.present) json.Item(rank);
  json.End();
  std::set<int64_t> missing;
  for (const MissingRanks& engine : ranks.missing) missing.merge(FirstOf(engine));
  json.BeginList("missing");
  size_t listed = 0;
  for (const int64_t rank : missing) {
    if (listed++ < kMostMissing) json.Item(rank);
  }
  json.End();
  json.Field("missing_count", ranks.missing_count());
  json.BeginArray("missing_in");
  for (const MissingRanks& engine : ranks.missing) {
    json.BeginRow();
    if (!engine.worker.empty()) json.Field("worker", engine.worker);
    json.Field("world_size", engine.world_size);
    json.Field("engines", engine.engines);
    json.BeginList("ranks");
    for (const int64_t rank : FirstOf(engine)) json.Item(rank);
    json.End();
    json.Field("count", engine.count);
    json.End();
  }
  json.End();
  json.Field("with_trace", ranks.ranks_with_trace);
  json.Field("in_all", ranks.ranks_in_all);
  json.BeginArray("table");
  for (const RankRow& row : ranks.rows) {
    json.BeginRow();
    json.Field("rank", row.rank);
    json.Field("path", row.path);
    WriteIdentityJson(json, row.identity);
    json.Field("window_ns", row.window);
    json.Field("busy_ns", row.busy);
    json.Field("idle_ns", row.idle);
    json.Field("compute_ns", row.compute);
    json.Field("exposed_comm_ns", row.exposed_comm);
    json.Field("exposed_copy_ns", row.exposed_copy);
    json.Field("comm_busy_ns", row.comm_busy);
    json.Field("kernel_sum_ns", row.kernel_sum);
    json.Field("steps", row.steps);
    json.Field("start_unix_ns", row.start_unix_ns);
    json.Field("recording", row.recording);
    json.End();
  }
  json.End();
  if (ranks.rows.size() > 1) json.Field("busy_spread", ranks.busy_spread());
  if (ranks.slowest) {
    json.Field("slowest", *ranks.slowest);
    json.Field("slowest_compute_ns", ranks.slowest_compute);
    json.Field("median_compute_of_others_ns", ranks.median_of_others);
  }
  json.Texts("warnings", ranks.warnings);
  json.End();
}

void WriteVerdictJson(JsonWriter& json, const RunAnalysis& run) {
  if (run.traces.empty()) return;
  const RunVerdict verdict = VerdictOf(run);
  const RunTotals totals = TotalsOf(run);
  const DeviceTotals& devices = totals.devices;
  json.BeginObject("verdict");
  json.Field("text", verdict.text);
  json.FieldUnlessEmpty("caveat", verdict.caveat);
  if (devices.window.ns > 0) {
    json.Field("busy_share", ShareOf(devices.busy, devices.window));
    json.Field("exposed_comm_share", ShareOf(devices.exposed_comm, devices.window));
    if (devices.idle.ns > 0 && !totals.idle.causes.empty()) {
      const IdleCauseRow& cause = totals.idle.causes.front();
      json.Field("idle_cause", IdleCauseId(cause.cause));
      json.Field("idle_cause_share", ShareOf(cause.total, totals.idle.window - totals.idle.busy));
    }
    if (!totals.kernels.categories.empty()) {
      const CategoryRow& category = totals.kernels.categories.front();
      json.Field("category", category.category);
      json.Field("category_share", ShareOf(category.total, totals.kernels.total));
    }
  }
  WriteStraggler(json, run.ranks);
  json.End();
}

std::string FindingsJson(const RunAnalysis& run) {
  const RunTotals totals = TotalsOf(run);
  const TextStyle style;
  JsonWriter json;
  json.BeginObject();
  WriteVerdictJson(json, run);
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
    json.FieldUnlessEmpty(
        "name", row == nullptr ? only->facts.identity.RankName() : RankLabel(run.ranks, *row));
    WriteRowsJson(json, "phases",
                  StepPhasesTable(row == nullptr ? only->steps : StepsOf(run, *row)));
    json.End();
  }
  if (!run.ranks.rows.empty()) WriteRanksJson(json, run.ranks);
  json.End();
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
