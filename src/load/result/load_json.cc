#include <fmt/format.h>

#include <cmath>

#include "load/plan/plan_json.h"
#include "load/result/load_report.h"
#include "text/json_writer.h"

namespace tacho {
namespace {

int64_t Whole(double value) { return std::llround(value); }

void WriteDistribution(JsonWriter& json, std::string_view key, const Distribution& all) {
  if (all.count == 0) return;
  json.BeginRow(key);
  json.Fields("count", all.count, "mean_ns", Whole(all.mean), "std_ns", Whole(all.deviation),
              "min_ns", Whole(all.least), "max_ns", Whole(all.most));
  for (const Percentile& p : all.percentiles) {
    json.Field(fmt::format("p{}_ns", PercentName(p.percent)), Whole(p.value));
    if (!p.low || !p.high) continue;
    json.Fields(fmt::format("p{}_low_ns", PercentName(p.percent)), Whole(*p.low),
                fmt::format("p{}_high_ns", PercentName(p.percent)), Whole(*p.high));
  }
  json.End();
}

void WriteFigures(JsonWriter& json, const LoadFigures& f) {
  json.Fields("sent", f.sent, "done", f.done, "failed", f.failed, "partial", f.partial, "cancelled",
              f.cancelled, "duration_ns", f.duration_ns, "prompt_tokens", f.prompt_tokens,
              "output_tokens", f.output_tokens, "lost_tokens", f.lost_tokens, "cached_tokens",
              f.cached_tokens, "wrong_length", f.wrong_length, "requests_per_s", f.requests_per_s,
              "prompt_tokens_per_s", f.prompt_tokens_per_s, "output_tokens_per_s",
              f.output_tokens_per_s, "received_tokens_per_s", f.received_tokens_per_s, "good",
              f.good);
  if (f.good) json.Field("good_per_s", f.good_per_s);
  json.Fields("chunks", f.chunks, "coalesced_chunks", f.coalesced_chunks, "unsure_first",
              f.unsure_first, "unsure_gaps", f.unsure_gaps, "unsure_end", f.unsure_end, "met_flush",
              UnlessIs(f.met_flush, uint64_t{0}));
  WriteDistribution(json, "ttft", f.ttft);
  WriteDistribution(json, "tpot", f.tpot);
  WriteDistribution(json, "chunk_gap", f.chunk_gap);
  WriteDistribution(json, "itl", f.itl);
  WriteDistribution(json, "e2e", f.e2e);
  WriteDistribution(json, "intended_ttft", f.intended_ttft);
  WriteDistribution(json, "intended_e2e", f.intended_e2e);
  WriteDistribution(json, "queue", f.queue);
  WriteDistribution(json, "lateness", f.lateness);
}

}  // namespace

// Long: each field takes a line.
std::string LoadJson(const FinishedLoad& load, std::string_view version) {
  const LoadSummary& s = load.summary;
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, version);
  json.Field("model", load.identity.model_id);
  json.List("urls", load.urls);
  json.JsonField("plan", PlanFactsJson(load.plan));
  json.Field("ended_early", UnlessEmpty(load.records.ended_early));
  json.BeginObject("whole");
  WriteFigures(json, s.whole);
  json.End();
  if (s.steady) {
    json.BeginObject("steady");
    json.Fields("from_ns", s.window->from_ns - load.records.started_ns, "to_ns",
                s.window->to_ns - load.records.started_ns, "level", s.window->level);
    WriteFigures(json, *s.steady);
    json.End();
  }
  json.BeginArray("scenarios");
  for (const LoadSummary::Class& one : s.classes) {
    json.BeginObject();
    json.Field("scenario", one.scenario);
    WriteFigures(json, one.figures);
    json.End();
  }
  json.End();
  json.BeginObject("concurrency");
  json.Fields("peak", s.concurrency.peak, "mean", s.concurrency.mean);
  json.List("each_second", s.concurrency.each_second);
  json.End();
  json.BeginObject("client");
  json.Fields("client_bound", s.verdict.client_bound, "why", s.verdict.why, "cpu_share",
              s.client.cpu_share, "most_cpu_share", s.client.most_cpu_share, "lag_p99_ns",
              s.client.lag_p99_ns, "lag_max_ns", s.client.lag_max_ns, "priority",
              PriorityName(s.client.priority));
  json.End();
  json.Rows("errors", s.errors, [&](const ErrorCount& error) {
    json.Fields("count", error.count, "error", error.error, "figures_differ", error.figures_differ);
  });
  json.List("remarks", load.remarks);
  if (load.run) {
    const int64_t flush_ns = load.records.flush_to_ns - load.records.flush_from_ns;
    json.Row("recording", "folder", load.run->folder, "complete", load.run->complete, "exit_status",
             load.run->status, "flush_ns", UnlessIs(flush_ns, int64_t{0}));
  }
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
