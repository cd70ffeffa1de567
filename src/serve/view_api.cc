#include "serve/view_api.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "report/json/analyze_json.h"
#include "report/words/layer_words.h"
#include "report/words/opportunity_words.h"
#include "report/words/roofline_words.h"
#include "report/words/speculation_words.h"
#include "serve/meta_json.h"
#include "serve/parameters.h"
#include "serve/rank_queries.h"
#include "serve/request_queries.h"
#include "serve/run_queries.h"
#include "serve/slice_queries.h"

namespace tacho {
namespace {

constexpr int kNotFound = 404, kConflict = 409, kPreconditionFailed = 412;

Result<HttpAnswer> AnswerMeta(const ServedRun& run, const Parameters& /*query*/) {
  return HttpAnswer{.body = MetaJson(run)};
}

// Why there is no analysis: it failed, or it is not ready yet.
HttpAnswer NoAnalysis(const ServedRun& run) {
  if (const auto error = run.error()) return ErrorAnswer(kNotFound, error->message);
  return ErrorAnswer(kConflict, "the traces are still being read");
}

Result<HttpAnswer> AnswerSummary(const ServedRun& run, const Parameters& /*query*/) {
  const auto analysis = run.analysis();
  return analysis ? HttpAnswer{.body = SummaryJson(run, *analysis)} : NoAnalysis(run);
}

Result<HttpAnswer> AnswerAnalysis(const ServedRun& run, const Parameters& /*query*/) {
  const auto analysis = run.analysis();
  return analysis ? HttpAnswer{.body = AnalyzeJson(*analysis, run.info().version)}
                  : NoAnalysis(run);
}

// Says in words how the layers of a rank's model were found and what its roofline is, or why there
// are none.
Result<HttpAnswer> AnswerModel(const ServedRun& run, const Parameters& query) {
  const auto analysis = run.analysis();
  if (!analysis) return NoAnalysis(run);
  TACHO_ASSIGN_OR_RETURN(const auto rank, RankOf(run, query));
  const auto trace = std::ranges::find(analysis->traces, rank->path(), &TraceAnalysis::path);
  if (trace == analysis->traces.end()) return ErrorAnswer(kNotFound, "this trace was not analysed");
  const LayerTable& layers = trace->layers;
  const Roofline& roofline = trace->roofline;
  const bool has_roof = !roofline.phases.empty() || !roofline.blocks.empty();
  JsonWriter json;
  json.BeginObject();
  json.Field("no_layers", UnlessEmpty(WhyNoLayers(layers.state)));
  json.Rows("phases", layers.phases, [&](const PhaseLayers& phase) {
    json.Fields("phase", PhaseName(phase.phase), "layers", LayersText(layers, phase));
  });
  json.Field("speculation", UnlessEmpty(SpeculationText(trace->speculation)));
  std::vector<Opportunity> room = trace->opportunities;
  std::erase_if(room, [](const Opportunity& of) { return of.share < kLeastShownShare; });
  json.Rows("room", room, [&](const Opportunity& of) {
    const auto steps = static_cast<int64_t>(of.steps);
    json.Fields("kind", OpportunityKindId(of.kind), "phase", PhaseName(of.phase), "what",
                OpportunityText(of, true), "layers", of.layers, "most_ns", of.most.ns / steps,
                "gap_ns", of.gaps.ns / steps, "share", of.share);
  });
  if (has_roof) json.Field("roofline", RooflineText(roofline));
  json.Field("no_roofline", UnlessEmpty(WhyNoRoofline(roofline)));
  json.End();
  return HttpAnswer{.body = std::move(json).Finish()};
}

struct Route {
  std::string_view what;
  Result<HttpAnswer> (*answer)(const ServedRun&, const Parameters&);
};
constexpr Route kRoutes[] = {
    {"meta", AnswerMeta},   {"summary", AnswerSummary},     {"analysis", AnswerAnalysis},
    {"tiles", AnswerTiles}, {"names", AnswerNames},         {"slice", AnswerSlice},
    {"at", AnswerAt},       {"selection", AnswerSelection}, {"gaps", AnswerGaps},
    {"flame", AnswerFlame}, {"search", AnswerSearch},       {"export", AnswerExport},
    {"next", AnswerNext},   {"request", AnswerRequest},     {"step_requests", AnswerStepRequests},
    {"model", AnswerModel}};

}  // namespace

HttpAnswer ViewApi::AnswerMarks(const ServerRequest& request) const {
  if (request.method == "PUT") {
    const auto replaced = marks_.Replace(request.body, FindHeader(request.headers, "If-Match"));
    if (!replaced) return ErrorAnswer(replaced.error());
    if (!*replaced) {
      return ErrorAnswer(kPreconditionFailed,
                         "somebody else changed the marks since they were read: read them again");
    }
  }
  auto marks = marks_.Read();
  if (!marks) return ErrorAnswer(marks.error());
  HttpAnswer answer{.headers = {{"ETag", MarksFile::TagOf(*marks)}}};
  answer.body = *std::move(marks);
  return answer;
}

HttpAnswer ViewApi::Answer(std::string_view what, const ServerRequest& request) const {
  if (what == "marks") return AnswerMarks(request);
  const auto* const route = std::ranges::find(kRoutes, what, &Route::what);
  if (route == std::end(kRoutes)) return ErrorAnswer(404, "there is no such query");
  if (request.method == "PUT") return ErrorAnswer(405, "only the marks can be written");
  Result<HttpAnswer> answer = route->answer(run_, Parameters(request.query));
  return answer ? *std::move(answer) : ErrorAnswer(answer.error());
}

}  // namespace tacho
