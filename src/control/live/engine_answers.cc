#include "control/live/engine_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/parse_json.h"
#include "base/words.h"
#include "control/live/prometheus.h"
#include "control/version.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

// The JSON of a 200 answer, or a discarded value.
Json JsonOf(const std::optional<HttpResponse>& answer) {
  if (!answer || answer->status != 200) return Json(Json::value_t::discarded);
  return ParseJson(answer->body);
}

const Json& Member(const Json& object, std::string_view key) {
  static const Json none;
  if (!object.is_object()) return none;
  auto found = object.find(std::string(key));
  return found == object.end() ? none : *found;
}

template <typename T>
std::optional<T> Get(const Json& object, std::string_view key) {
  const Json& value = Member(object, key);
  if constexpr (std::is_same_v<T, bool>) {
    if (value.is_boolean()) return value.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (value.is_string()) return value.get<std::string>();
  } else if (value.is_number_unsigned()) {
    if (const auto number = value.get<uint64_t>(); std::in_range<T>(number))
      return static_cast<T>(number);
  } else if (value.is_number_integer()) {
    if (const auto number = value.get<int64_t>(); std::in_range<T>(number))
      return static_cast<T>(number);
  }
  return std::nullopt;
}

// Takes a parallel size if it is plausible (1 to kMostRanks); else notes it in not_believed.
void TakeSize(std::string_view name, std::optional<int64_t> told, std::optional<int>& size,
              EngineFacts& facts) {
  if (!told) return;
  if (*told >= 1 && *told <= kMostRanks)
    size = static_cast<int>(*told);
  else
    facts.not_believed +=
        fmt::format("{}{} {}", facts.not_believed.empty() ? "" : ", ", name, *told);
}

void TakeSizes(const Json& object, std::array<std::string_view, 3> keys, EngineFacts& facts) {
  TakeSize("tensor parallel", Get<int64_t>(object, keys[0]), facts.tensor_parallel, facts);
  TakeSize("pipeline parallel", Get<int64_t>(object, keys[1]), facts.pipeline_parallel, facts);
  TakeSize("data parallel", Get<int64_t>(object, keys[2]), facts.data_parallel, facts);
}

// Drops all three sizes or none. Each may be plausible where their product is not, and one alone
// does not give the number of ranks.
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

// Whether the answers fit the engine's rule known_by: "owner NAME" of its model, "routes PATH..."
// of its interface, or "metrics WORD..." of a server without models.
bool IsKnownBy(std::string_view rule, const std::string& owner, const Json& openapi,
               const ProbeAnswers& answers) {
  const std::string_view how = TakeWord(rule);
  const bool serves = answers[kModels] && answers[kModels]->status == 200;
  const bool metered = answers[kMetrics] && answers[kMetrics]->status == 200;
  if (how == "owner") return owner == rule;
  if (how == "metrics" && (serves || !metered)) return false;
  while (!rule.empty()) {
    const std::string_view word = TakeWord(rule);
    if (how == "routes" && !Member(Member(openapi, "paths"), word).is_object()) return false;
    if (how == "metrics" && answers[kMetrics]->body.find(word) == std::string::npos) return false;
  }
  return how == "routes" || how == "metrics";
}

EngineKind KindOf(const Json& models, const Json& openapi, const Json& server_info,
                  const ProbeAnswers& answers) {
  std::string owner;
  if (const Json& data = Member(models, "data"); data.is_array() && !data.empty())
    owner = Get<std::string>(data[0], "owned_by").value_or("");
  for (const EngineKind kind : EngineKinds())
    if (const std::string_view rule = EngineRule(kind, "", "known_by");
        !rule.empty() && IsKnownBy(rule, owner, openapi, answers))
      return kind;
  if (owner == "vllm" || Member(server_info, "vllm_config").is_object()) return EngineKind::kVllm;
  if (owner == "sglang" || Member(server_info, "internal_states").is_array())
    return EngineKind::kSglang;
  // If the model list was changed, the names of the metrics show the engine.
  if (answers[kMetrics] && answers[kMetrics]->status == 200) {
    if (answers[kMetrics]->body.find("vllm:") != std::string::npos) return EngineKind::kVllm;
    if (answers[kMetrics]->body.find("sglang:") != std::string::npos) return EngineKind::kSglang;
  }
  return EngineKind::kUnknown;
}

void ReadModel(const Json& models, EngineFacts& facts) {
  const Json& data = Member(models, "data");
  if (!data.is_array() || data.empty()) return;
  facts.model = Get<std::string>(data[0], "id").value_or("");
  facts.max_model_len = Get<int64_t>(data[0], "max_model_len");
}

void TakeProfilerConfig(const Json& config, ProfilerFacts& facts) {
  const auto take = [&](auto& fact, std::string_view key) {
    if (!fact) fact = Get<typename std::decay_t<decltype(fact)>::value_type>(config, key);
  };
  take(facts.kind, "profiler");
  take(facts.folder, "torch_profiler_dir");
  take(facts.with_stack, "torch_profiler_with_stack");
  take(facts.record_shapes, "torch_profiler_record_shapes");
  take(facts.use_gzip, "torch_profiler_use_gzip");
  take(facts.dump_table, "torch_profiler_dump_cuda_time_total");
  take(facts.captures_graphs, "capture_torch_profiler");
  take(facts.ignore_frontend, "ignore_frontend");
  take(facts.delay_iterations, "delay_iterations");
  take(facts.max_iterations, "max_iterations");
  take(facts.wait_iterations, "wait_iterations");
  take(facts.warmup_iterations, "warmup_iterations");
  take(facts.active_iterations, "active_iterations");
}

void ReadVllm(const ProbeAnswers& answers, const Json& openapi, const Json& server_info,
              EngineFacts& facts) {
  facts.version = Get<std::string>(JsonOf(answers[kVersion]), "version").value_or("");
  const Json& start = Member(Member(Member(openapi, "paths"), "/start_profile"), "post");
  facts.profiler.has_http = start.is_object();
  facts.profiler.reads_body = Member(start, "requestBody").is_object();
  const Json& schemas = Member(Member(openapi, "components"), "schemas");
  facts.profiler.reads_kwargs =
      facts.profiler.reads_body &&
      Member(Member(Member(schemas, "StartProfileRequest"), "properties"), "profiler_kwargs")
          .is_object();
  facts.asleep = Get<bool>(JsonOf(answers[kIsSleeping]), "is_sleeping");

  const Json& config = Member(server_info, "vllm_config");
  if (auto instance = Get<std::string>(config, "instance_id")) facts.instance = "id:" + *instance;
  TakeSizes(Member(config, "parallel_config"),
            {"tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"}, facts);
  if (const Json& profiler = Member(config, "profiler_config"); profiler.is_object())
    TakeProfilerConfig(profiler, facts.profiler);
}

void ReadSglang(const ProbeAnswers& answers, const Json& server_info, EngineFacts& facts) {
  facts.version = Get<std::string>(server_info, "version").value_or("");
  TakeSizes(server_info, {"tp_size", "pp_size", "dp_size"}, facts);
  facts.device = Get<std::string>(server_info, "device").value_or("");
  facts.profiler.has_http = true;
  facts.profiler.reads_body = true;
  facts.profiler.reads_profile_id = EngineRule(facts.kind, facts.version, "id") == "yes";
  facts.profiler.kind = "torch";
  if (facts.model.empty())
    facts.model = Get<std::string>(JsonOf(answers[kModelInfo]), "model_path").value_or("default");
}

// Reads the facts of an engine whose fields the rules list.
void ReadByRules(const ProbeAnswers& answers, const Json& openapi, EngineFacts& facts) {
  facts.version = Get<std::string>(JsonOf(answers[kVersion]), "version").value_or("");
  // A server that does not show its interface may still have the route.
  const Json& paths = Member(openapi, "paths");
  facts.profiler.has_http = !paths.is_object() || Member(paths, "/start_profile").is_object();
  facts.profiler.reads_body = EngineRule(facts.kind, facts.version, "counts_steps") == "yes";
  facts.profiler.kind = "torch";
}

// Adds what only the metrics report: how many engines are behind the server, whether they sleep,
// when it started.
void ReadMetricsFacts(const HttpResponse& metrics, EngineFacts& facts) {
  std::vector<MetricSample> samples = ParsePrometheus(metrics.body);
  std::vector<EngineCounters> engines = CountersIn(samples);
  facts.has_metrics = !engines.empty();
  if (!facts.data_parallel && engines.size() > 1)
    facts.data_parallel = static_cast<int>(engines.size());
  for (const MetricSample& sample : samples) {
    // The start time is added even if there is an id: vLLM's id has only five digits, or was
    // configured.
    if (sample.name == "process_start_time_seconds" &&
        facts.instance.find("start:") == std::string::npos)
      facts.instance += fmt::format("{}start:{}", facts.instance.empty() ? "" : " ", sample.value);
    if (sample.name != "vllm:engine_sleep_state" || sample.value == 0) continue;
    auto state = sample.labels.find("sleep_state");
    if (state == sample.labels.end()) continue;
    if (!facts.asleep) facts.asleep = state->second != "awake";
    if (state->second != "awake") facts.sleep_level = state->second == "discard_all" ? 2 : 1;
  }
}

// Describes a server that is not an engine, by its answers.
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
  TakeSize("tensor parallel", worker.in_place_of->tensor_parallel, facts.tensor_parallel, facts);
  TakeSize("data parallel", worker.in_place_of->engines, facts.data_parallel, facts);
  DropTooManyRanks(facts);
  ReadByRules({}, Json(), facts);
  return facts;
}

Result<EngineFacts> ReadFacts(const std::string& url, const ProbeAnswers& answers) {
  Json models = JsonOf(answers[kModels]);
  Json openapi = JsonOf(answers[kOpenApi]);
  Json server_info = JsonOf(answers[kServerInfo]);
  if (!server_info.is_object()) server_info = JsonOf(answers[kOldServerInfo]);
  EngineFacts facts;
  facts.kind = KindOf(models, openapi, server_info, answers);
  ReadModel(models, facts);
  switch (facts.kind) {
    case EngineKind::kVllm:
      ReadVllm(answers, openapi, server_info, facts);
      break;
    case EngineKind::kSglang:
      ReadSglang(answers, server_info, facts);
      break;
    case EngineKind::kTensorRtLlm:
    case EngineKind::kTokenSpeed:
    case EngineKind::kDynamoVllm:
    case EngineKind::kDynamoSglang:
    case EngineKind::kSmg:
      ReadByRules(answers, openapi, facts);
      break;
    case EngineKind::kUnknown:
      return Fail(ErrorKind::kRemote, fmt::format("{}: {}", url, Describe(answers)));
  }
  if (answers[kMetrics] && answers[kMetrics]->status == 200)
    ReadMetricsFacts(*answers[kMetrics], facts);
  DropTooManyRanks(facts);
  return facts;
}

}  // namespace tacho
