#include "serve/request_queries.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/requests/requests_in_step.h"
#include "analysis/requests/run_requests.h"
#include "report/words/request_words.h"
#include "serve/rank_queries.h"
#include "text/json_writer.h"

namespace tacho {
namespace {

// Limit for one request, because a request's record may claim any number of chunks.
constexpr size_t kMostChunks = 50'000;

// The page's rank for trace number `trace` of the analysis; nullopt if that rank is not read.
std::optional<uint32_t> RankOfTrace(const ReadRanks& ranks, const RunAnalysis& analysis,
                                    uint32_t trace) {
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank] && ranks[rank]->path() == analysis.traces[trace].path) return rank;
  }
  return std::nullopt;
}

Result<std::shared_ptr<const RunAnalysis>> AnalysisWithRequests(const ServedRun& run) {
  auto analysis = run.analysis();
  if (!analysis) return Fail(ErrorKind::kUnreadable, "the traces are not analysed yet");
  if (!analysis->joined)
    return Fail(ErrorKind::kUnreadable, "the run has no requests that are joined with steps");
  return analysis;
}

// Turns an index into a step number, which counts from 1.
std::optional<uint64_t> StepNumber(std::optional<uint32_t> step) {
  return step ? std::optional(uint64_t{*step} + 1) : std::nullopt;
}

void WriteParts(JsonWriter& json, const RequestParts& parts) {
  json.BeginRow("parts");
  for (size_t i = 0; i < kRequestParts; ++i) {
    if (parts.ns[i].ns != 0) json.Field(RequestPartId(static_cast<RequestPart>(i)), parts.ns[i]);
  }
  json.End();
}

void WriteDetail(JsonWriter& json, const RequestDetail& detail, const ViewedRank& rank) {
  json.Fields("due_ns", rank.ToRun(detail.due), "sent_ns", rank.ToRun(detail.sent), "reads_known",
              detail.reads_known);
  json.BeginList("reads");
  for (const uint32_t step : detail.reads) json.Field({}, StepNumber(step));
  json.End();
  const std::span listed =
      std::span(detail.chunks).first(std::min(detail.chunks.size(), kMostChunks));
  uint64_t tokens = 0;
  json.Field("chunks_count", detail.chunks.size());
  json.Rows("chunks", listed, [&](const RequestDetail::Chunk& chunk) {
    tokens += chunk.tokens;
    json.Fields("at_ns", rank.ToRun(chunk.seen), "tokens", tokens, "step", StepNumber(chunk.step),
                "step_at_most", StepNumber(chunk.step_at_most), "gap_ns", chunk.gap.Sum());
    WriteParts(json, chunk.gap);
  });
}

}  // namespace

Result<HttpAnswer> AnswerRequest(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const auto analysis, AnalysisWithRequests(run));
  const std::vector<RequestRow>& rows = analysis->requests.rows;
  TACHO_ASSIGN_OR_RETURN(const size_t at, query.Index("list", rows.size()));
  const RequestRow& row = rows[at];
  const ReadRanks ranks = run.view().ranks();
  const auto rank = row.trace ? RankOfTrace(ranks, *analysis, *row.trace) : std::nullopt;
  JsonWriter json;
  json.BeginObject();
  json.Fields("list", at, "id", row.id, "rank", rank, "lacks", UnlessEmpty(WhyNotSplit(row.lacks)));
  const auto detail = rank ? DetailOf(InputOf(*analysis), row.number) : std::nullopt;
  if (detail) WriteDetail(json, *detail, *ranks[*rank]);
  json.End();
  return HttpAnswer{.body = std::move(json).Finish()};
}

Result<HttpAnswer> AnswerStepRequests(const ServedRun& run, const Parameters& query) {
  TACHO_ASSIGN_OR_RETURN(const auto analysis, AnalysisWithRequests(run));
  TACHO_ASSIGN_OR_RETURN(const auto rank, RankOf(run, query));
  const auto steps = static_cast<int64_t>(rank->view().steps().size());
  TACHO_ASSIGN_OR_RETURN(const int64_t number, query.Number("number", 1, steps));
  const auto trace = std::ranges::find(analysis->traces, rank->path(), &TraceAnalysis::path);
  std::vector<RequestInStep> in_it;
  if (trace != analysis->traces.end())
    in_it =
        RequestsInStep(analysis->requests, static_cast<uint32_t>(trace - analysis->traces.begin()),
                       static_cast<uint32_t>(number - 1),
                       trace->steps.steps[static_cast<size_t>(number - 1)].label);
  JsonWriter json;
  json.BeginObject();
  json.Rows("requests", in_it, [&](const RequestInStep& one) {
    json.Fields("list", one.row, "id", analysis->requests.rows[one.row].id, "role",
                StepRoleId(one.role));
  });
  json.End();
  return HttpAnswer{.body = std::move(json).Finish()};
}

}  // namespace tacho
