#include "control/live/answer_json.h"

#include <fmt/format.h>

#include "base/parse_json.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

void TakeOneSize(std::string_view name, std::optional<int64_t> told, std::optional<int>& size,
                 EngineFacts& facts) {
  if (!told) return;
  if (*told >= 1 && *told <= kMostRanks)
    size = static_cast<int>(*told);
  else
    facts.not_believed +=
        fmt::format("{}{} {}", facts.not_believed.empty() ? "" : ", ", name, *told);
}

}  // namespace

Json JsonOfAnswer(const std::optional<HttpResponse>& answer) {
  if (!answer || answer->status != 200) return Json(Json::value_t::discarded);
  return ParseJson(answer->body);
}

AnswerJson ReadAnswers(const ProbeAnswers& answers) {
  AnswerJson json{.answers = answers,
                  .models = JsonOfAnswer(answers[kModels]),
                  .openapi = JsonOfAnswer(answers[kOpenApi]),
                  .server_info = JsonOfAnswer(answers[kServerInfo]),
                  .owner = {}};
  if (!json.server_info.is_object()) json.server_info = JsonOfAnswer(answers[kOldServerInfo]);
  if (const Json& data = JsonMember(json.models, "data"); data.is_array() && !data.empty())
    json.owner = JsonGet<std::string>(data[0], "owned_by").value_or("");
  return json;
}

void TakeSizes(const Json& object, std::array<std::string_view, 3> keys, EngineFacts& facts) {
  TakeOneSize("tensor parallel", JsonGet<int64_t>(object, keys[0]), facts.tensor_parallel, facts);
  TakeOneSize("pipeline parallel", JsonGet<int64_t>(object, keys[1]), facts.pipeline_parallel,
              facts);
  TakeOneSize("data parallel", JsonGet<int64_t>(object, keys[2]), facts.data_parallel, facts);
}

void TakeFormats(const Json& object, EngineFacts& facts) {
  constexpr size_t kMostWord = 64;
  const auto take = [&](std::string& fact, std::string_view key) {
    const std::string word = JsonGet<std::string>(object, key).value_or("");
    if (fact.empty() && word.size() <= kMostWord) fact = word;
  };
  take(facts.dtype, "dtype");
  take(facts.quantization, "quantization");
  take(facts.kv_cache_dtype, "kv_cache_dtype");
}

void TakeProfilerConfig(const Json& config, ProfilerFacts& facts) {
  const auto take = [&](auto& fact, std::string_view key) {
    if (!fact) fact = JsonGet<typename std::decay_t<decltype(fact)>::value_type>(config, key);
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

}  // namespace tacho
