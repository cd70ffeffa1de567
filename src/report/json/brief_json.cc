#include "report/json/brief_json.h"

#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "report/device_totals.h"
#include "report/json/blame_json.h"
#include "report/tables/result_tables.h"
#include "report/words/caveat.h"
#include "report/words/idle_words.h"
#include "report/words/rank_text.h"
#include "report/words/verdict.h"
#include "text/document.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kMostMissing = 1'000;  // ranks listed one by one
constexpr size_t kMostKernels = 20;     // for a run in brief

// The first kMostMissing of the ranks that an engine lacks.
std::set<int64_t> FirstOf(const MissingRanks& missing) {
  std::set<int64_t> ranks;
  for (const RankRange& range : missing.ranks) {
    for (int64_t rank = range.first; rank <= range.last && ranks.size() < kMostMissing; ++rank)
      ranks.insert(rank);
  }
  return ranks;
}

// Writes the times of a rank, or of several devices.
void WriteTimes(JsonWriter& json, const auto& times) {
  json.Fields("whole", UnlessIs(times.whole, true), "window_ns", times.window, "busy_ns",
              times.busy);
  if (times.whole) json.Field("idle_ns", times.idle);
  json.Field("compute_ns", times.compute);
  if (times.whole)
    json.Fields("exposed_comm_ns", times.exposed_comm, "exposed_copy_ns", times.exposed_copy);
  json.Fields("comm_busy_ns", times.comm_busy, "kernel_sum_ns", times.kernel_sum);
}

void WriteDevices(JsonWriter& json, const DeviceTotals& totals) {
  json.BeginRow("device_time");
  json.Field("devices", totals.devices);
  if (totals.on_host) json.Field("on_host", true);
  WriteTimes(json, totals);
  json.End();
}

std::string_view SignId(Straggler::Sign sign) {
  switch (sign) {
    case Straggler::Sign::kCausesWaiting:
      return "causes-waiting";
    case Straggler::Sign::kComputesLongest:
      return "computes-longest";
    case Straggler::Sign::kLeastCollectives:
      break;
  }
  return "least-collectives";
}

void WriteStraggler(JsonWriter& json, const RankTable& ranks) {
  const std::vector<Straggler> found = FindStragglers(ranks);
  if (found.empty()) return;
  const Straggler& straggler = found.front();
  const RankRow& row = ranks.rows[straggler.row];
  json.BeginRow("straggler");
  json.Fields("name", RankLabel(ranks, row), "path", row.path, "sign", SignId(straggler.sign), "ns",
              straggler.time);
  if (straggler.sign == Straggler::Sign::kCausesWaiting)
    json.Fields("waiting_share", ShareOf(straggler.time, straggler.others), "waiting_ranks",
                straggler.waiting_ranks, "cause", straggler.main.Id(), "late_ns_a_step",
                straggler.late_a_step);
  else
    json.Field("median_of_others_ns", straggler.others);
  json.End();
}

}  // namespace

void WriteIdentityJson(JsonWriter& json, const RankIdentity& identity) {
  const std::string name = identity.Name();
  if (name.empty()) return;
  json.Row("identity", "name", name, "worker", UnlessEmpty(identity.worker), "data_parallel",
           identity.data_parallel, "pipeline", identity.pipeline, "tensor", identity.tensor,
           "stage", UnlessEmpty(identity.stage));
}

void WriteRanksJson(JsonWriter& json, const RankTable& ranks) {
  json.BeginObject("ranks");
  json.Field("world_size", ranks.world_size);
  json.List("present", ranks.present);
  std::set<int64_t> missing;
  for (const MissingRanks& engine : ranks.missing) missing.merge(FirstOf(engine));
  if (missing.size() > kMostMissing)
    missing.erase(std::next(missing.begin(), kMostMissing), missing.end());
  json.List("missing", missing);
  json.Field("missing_count", ranks.missing_count());
  json.Rows("missing_in", ranks.missing, [&](const MissingRanks& engine) {
    json.Fields("worker", UnlessEmpty(engine.worker), "world_size", engine.world_size, "engines",
                engine.engines);
    json.List("ranks", FirstOf(engine));
    json.Field("count", engine.count);
  });
  json.Fields("with_trace", ranks.ranks_with_trace, "in_all", ranks.ranks_in_all);
  json.Rows("table", ranks.rows, [&](const RankRow& row) {
    json.Fields("rank", row.rank, "path", row.path);
    WriteIdentityJson(json, row.identity);
    if (row.window.ns > 0) WriteTimes(json, row);
    json.Fields("steps", row.steps, "start_unix_ns", row.start_unix_ns, "recording", row.recording);
  });
  if (ranks.rows.size() > 1) json.Field("busy_spread", ranks.busy_spread());
  if (ranks.slowest) {
    json.Fields("slowest", *ranks.slowest, "slowest_compute_ns", ranks.slowest_compute,
                "median_compute_of_others_ns", ranks.median_of_others);
  }
  if (ranks.rows.size() > 1) WriteBlameJson(json, ranks);
  json.List("warnings", ranks.warnings);
  json.End();
}

void WriteVerdictJson(JsonWriter& json, const RunAnalysis& run) {
  if (run.traces.empty()) return;
  const RunVerdict verdict = VerdictOf(run);
  const RunTotals totals = TotalsOf(run);
  const DeviceTotals& devices = totals.devices;
  json.BeginObject("verdict");
  json.Fields("text", verdict.text, "caveat", UnlessEmpty(verdict.caveat));
  if (devices.window.ns > 0) {
    json.Field("busy_share", ShareOf(devices.busy, devices.window));
    if (BusyIsLeast(run)) json.Field("busy_is_at_least", true);
    if (devices.whole)
      json.Field("exposed_comm_share", ShareOf(devices.exposed_comm, devices.window));
    if (devices.idle.ns > 0 && !totals.idle.causes.empty()) {
      const IdleCauseRow& cause = totals.idle.causes.front();
      json.Fields("idle_cause", IdleCauseId(cause.cause), "idle_cause_share",
                  ShareOf(cause.total, totals.idle.window - totals.idle.busy));
      if (IsAtLeast(totals.idle)) json.Field("idle_cause_is_at_least", true);
    }
    if (devices.whole && !totals.kernels.categories.empty()) {
      const CategoryRow& category = totals.kernels.categories.front();
      json.Fields("category", category.category, "category_share",
                  ShareOf(category.total, totals.kernels.total));
    }
  }
  WriteStraggler(json, run.ranks);
  json.End();
}

std::string BriefJson(const RunAnalysis& run) {
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
    json.Field("name", UnlessEmpty(row == nullptr ? only->facts.identity.RankName()
                                                  : RankLabel(run.ranks, *row)));
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
