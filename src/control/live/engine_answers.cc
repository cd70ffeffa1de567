#include "control/live/engine_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/parse_json.h"
#include "control/engine_type.h"
#include "control/live/answer_json.h"
#include "control/live/prometheus.h"
#include "control/version.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

// Drops all three sizes if there are too many ranks: each size may be plausible although their
// product is not, and a single size does not give the number of ranks.
void DropTooManyRanks(EngineFacts& facts) {
  const int64_t one =
      int64_t{facts.tensor_parallel.value_or(1)} * facts.pipeline_parallel.value_or(1);
  const int64_t all =
      std::min<int64_t>(one, int64_t{kMostRanks} + 1) * facts.data_parallel.value_or(1);
  if (all > kMostRanks)
    facts.not_believed = fmt::format(
        "tensor, pipeline and data parallel {}, {} and {}", facts.tensor_parallel.value_or(1),
        facts.pipeline_parallel.value_or(1), facts.data_parallel.value_or(1));
  if (facts.not_believed.empty()) return;
  facts.tensor_parallel = facts.pipeline_parallel = facts.data_parallel = std::nullopt;
}

EngineKind KindOf(const AnswerJson& json) {
  // First tries the types that have a rule known_by: their servers answer like another engine,
  // except for what that rule names.
  for (const bool by_rules : {true, false})
    for (const EngineType* type : EngineTypes())
      if (EngineRule(type->kind(), "", "known_by").empty() != by_rules && type->Answers(json))
        return type->kind();
  // If the list of models was changed, the names of the metrics still show the engine.
  if (const auto& metrics = json.answers[kMetrics]; metrics && metrics->status == 200)
    for (const EngineType* type : EngineTypes())
      if (type->IsNamedBy(metrics->body)) return type->kind();
  return EngineKind::kUnknown;
}

void ReadModel(const Json& models, EngineFacts& facts) {
  const Json& data = JsonMember(models, "data");
  if (!data.is_array() || data.empty()) return;
  facts.model = JsonGet<std::string>(data[0], "id").value_or("");
  facts.model_root = JsonGet<std::string>(data[0], "root").value_or("");
  facts.max_model_len = JsonGet<int64_t>(data[0], "max_model_len");
}

// Adds what only the metrics report: the number of engines behind the server, whether they sleep,
// and when the server started.
void ReadMetricsFacts(const HttpResponse& metrics, EngineFacts& facts) {
  std::vector<MetricSample> samples = ParsePrometheus(metrics.body);
  std::vector<EngineCounters> engines = CountersIn(samples);
  facts.has_metrics = !engines.empty();
  if (!facts.data_parallel && engines.size() > 1)
    facts.data_parallel = static_cast<int>(engines.size());
  for (const MetricSample& sample : samples) {
    // Needed in addition to vLLM's id, which has only five digits or was configured by the user.
    if (sample.name == "process_start_time_seconds" && facts.instance.start.empty())
      facts.instance.start = fmt::format("{}", sample.value);
    if (sample.name == "vllm:cache_config_info" && facts.kv_cache_dtype.empty()) {
      if (const auto dtype = sample.labels.find("cache_dtype"); dtype != sample.labels.end())
        facts.kv_cache_dtype = dtype->second;
    }
    if (sample.name != "vllm:engine_sleep_state" || sample.value == 0) continue;
    auto state = sample.labels.find("sleep_state");
    if (state == sample.labels.end()) continue;
    if (!facts.asleep) facts.asleep = state->second != "awake";
    if (state->second != "awake") facts.sleep_level = state->second == "discard_all" ? 2 : 1;
  }
}

// Describes, by its answers, a server that is not an engine.
std::string Describe(const ProbeAnswers& answers) {
  for (const std::optional<HttpResponse>& answer : answers) {
    if (!answer) continue;
    if (std::string remedy = KeyRemedy(*answer); !remedy.empty()) return remedy;
    if (answer->status >= 300 && answer->status < 400)
      return fmt::format("redirects to {}: name that address instead",
                         FindHeader(answer->headers, "location"));
  }
  const std::optional<HttpResponse>& models = answers[kModels];
  if (models && models->status == 503)
    return "HTTP 503: not ready yet; wait until its model is loaded";
  if (!models) return "answers, but not to /v1/models";
  std::string server(FindHeader(models->headers, "server"));
  return fmt::format("a web server{}, but no vLLM or SGLang: GET /v1/models gave HTTP {}",
                     server.empty() ? "" : " (" + server + ")", models->status);
}

}  // namespace

void ReadProfilerConfig(std::string_view text, ProfilerFacts& facts) {
  TakeProfilerConfig(ParseJson(text), facts);
}

std::optional<int> EngineFacts::ExpectedRanks() const {
  if (!tensor_parallel) return std::nullopt;
  return *tensor_parallel * pipeline_parallel.value_or(1) * data_parallel.value_or(1);
}

EngineFacts FactsInPlace(const Worker& worker) {
  EngineFacts facts;
  facts.kind = worker.in_place_of->kind;
  facts.model = worker.in_place_of->model;
  Json sizes = {{"dp", worker.in_place_of->engines}};
  if (worker.in_place_of->tensor_parallel) sizes["tp"] = *worker.in_place_of->tensor_parallel;
  TakeSizes(sizes, {"tp", "pp", "dp"}, facts);
  DropTooManyRanks(facts);
  TypeOf(facts.kind).ReadFacts(ReadAnswers({}), facts);
  return facts;
}

Result<EngineFacts> ReadFacts(const std::string& url, const ProbeAnswers& answers) {
  const AnswerJson json = ReadAnswers(answers);
  EngineFacts facts;
  facts.kind = KindOf(json);
  if (!IsKnown(facts.kind)) return FailAt(ErrorKind::kRemote, url, Describe(answers));
  ReadModel(json.models, facts);
  TypeOf(facts.kind).ReadFacts(json, facts);
  if (answers[kMetrics] && answers[kMetrics]->status == 200)
    ReadMetricsFacts(*answers[kMetrics], facts);
  DropTooManyRanks(facts);
  return facts;
}

}  // namespace tacho
