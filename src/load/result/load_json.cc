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
  json.Field("count", all.count);
  json.Field("mean_ns", Whole(all.mean));
  json.Field("std_ns", Whole(all.deviation));
  json.Field("min_ns", Whole(all.least));
  json.Field("max_ns", Whole(all.most));
  for (const Percentile& p : all.percentiles) {
    json.Field(fmt::format("p{}_ns", PercentName(p.percent)), Whole(p.value));
    if (!p.low || !p.high) continue;
    json.Field(fmt::format("p{}_low_ns", PercentName(p.percent)), Whole(*p.low));
    json.Field(fmt::format("p{}_high_ns", PercentName(p.percent)), Whole(*p.high));
  }
  json.End();
}

void WriteFigures(JsonWriter& json, const LoadFigures& f) {
  json.Field("sent", f.sent);
  json.Field("done", f.done);
  json.Field("failed", f.failed);
  json.Field("partial", f.partial);
  json.Field("cancelled", f.cancelled);
  json.Field("duration_ns", f.duration_ns);
  json.Field("prompt_tokens", f.prompt_tokens);
  json.Field("output_tokens", f.output_tokens);
  json.Field("lost_tokens", f.lost_tokens);
  json.Field("cached_tokens", f.cached_tokens);
  json.Field("wrong_length", f.wrong_length);
  json.Field("requests_per_s", f.requests_per_s);
  json.Field("prompt_tokens_per_s", f.prompt_tokens_per_s);
  json.Field("output_tokens_per_s", f.output_tokens_per_s);
  json.Field("received_tokens_per_s", f.received_tokens_per_s);
  json.Field("good", f.good);
  if (f.good) json.Field("good_per_s", f.good_per_s);
  json.Field("chunks", f.chunks);
  json.Field("coalesced_chunks", f.coalesced_chunks);
  json.Field("unsure_first", f.unsure_first);
  json.Field("unsure_gaps", f.unsure_gaps);
  json.Field("unsure_end", f.unsure_end);
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

// Long: a line for each field.
std::string LoadJson(const FinishedLoad& load, std::string_view version) {
  const LoadSummary& s = load.summary;
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", 1);
  json.Field("tacho", version);
  json.Field("model", load.identity.model_id);
  json.Texts("urls", load.urls);
  json.JsonField("plan", PlanFactsJson(load.plan));
  json.FieldUnlessEmpty("ended_early", load.records.ended_early);
  json.BeginObject("whole");
  WriteFigures(json, s.whole);
  json.End();
  if (s.steady) {
    json.BeginObject("steady");
    json.Field("from_ns", s.window->from_ns - load.records.started_ns);
    json.Field("to_ns", s.window->to_ns - load.records.started_ns);
    json.Field("level", s.window->level);
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
  json.Field("peak", s.concurrency.peak);
  json.Field("mean", s.concurrency.mean);
  json.BeginList("each_second");
  for (const double mean : s.concurrency.each_second) json.Field({}, mean);
  json.End();
  json.End();
  json.BeginObject("client");
  json.Field("client_bound", s.verdict.client_bound);
  json.Field("why", s.verdict.why);
  json.Field("cpu_share", s.client.cpu_share);
  json.Field("most_cpu_share", s.client.most_cpu_share);
  json.Field("lag_p99_ns", s.client.lag_p99_ns);
  json.Field("lag_max_ns", s.client.lag_max_ns);
  json.Field("priority", PriorityName(s.client.priority));
  json.End();
  json.BeginArray("errors");
  for (const ErrorCount& error : s.errors) {
    json.BeginRow();
    json.Field("count", error.count);
    json.Field("error", error.error);
    json.Field("figures_differ", error.figures_differ);
    json.End();
  }
  json.End();
  json.Texts("remarks", load.remarks);
  if (load.run) {
    json.BeginRow("recording");
    json.Field("folder", load.run->folder);
    json.Field("complete", load.run->complete);
    json.Field("exit_status", load.run->status);
    json.End();
  }
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
