#include "control/live/engine_answers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "control/launch/profile_needs.h"

namespace tacho {
namespace {

using testing::HasSubstr;

HttpResponse Ok(std::string body) {
  HttpResponse answer;
  answer.status = 200;
  answer.body = std::move(body);
  return answer;
}
HttpResponse Status(int status, std::vector<HttpHeader> headers = {}) {
  HttpResponse answer;
  answer.status = status;
  answer.headers = std::move(headers);
  return answer;
}

const char* const kVllmModels =
    R"({"object":"list","data":[{"id":"tiny","owned_by":"vllm","max_model_len":2048}]})";

TEST(ReadFacts, ALiveVllmWithItsDeveloperMode) {
  ProbeAnswers answers;
  answers[kModels] = Ok(kVllmModels);
  answers[kVersion] = Ok(R"({"version":"0.32.0"})");
  answers[kOpenApi] = Ok(R"({"paths":{"/start_profile":{"post":{"requestBody":{"content":{}}}}}})");
  answers[kIsSleeping] = Ok(R"({"is_sleeping":false})");
  answers[kServerInfo] = Ok(
      R"({"vllm_config":{"instance_id":"abc","parallel_config":{"tensor_parallel_size":2,
      "pipeline_parallel_size":1,"data_parallel_size":2},"model_config":{"dtype":"torch.bfloat16",
      "quantization":"fp8"},"cache_config":{"cache_dtype":"fp8_e4m3"},"profiler_config":{"profiler":"torch",
      "torch_profiler_dir":"/traces","torch_profiler_with_stack":false,"max_iterations":0,
      "torch_profiler_use_gzip":true,"ignore_frontend":true}}})");
  answers[kMetrics] =
      Ok("vllm:iteration_tokens_total_count{engine=\"0\"} 4\nprocess_start_time_seconds 1.5e9\n");
  auto facts = ReadFacts("http://h:1", answers);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->kind, EngineKind::kVllm);
  EXPECT_EQ(facts->version, "0.32.0");
  EXPECT_EQ(facts->model, "tiny");
  EXPECT_EQ(facts->max_model_len, 2048);
  EXPECT_EQ(facts->ExpectedRanks(), 4);
  EXPECT_EQ(facts->asleep, false);
  EXPECT_TRUE(facts->has_metrics);
  EXPECT_TRUE(facts->profiler.has_http);
  EXPECT_TRUE(facts->profiler.reads_body);
  EXPECT_EQ(facts->profiler.folder, "/traces");
  EXPECT_EQ(facts->profiler.with_stack, false);
  EXPECT_EQ(facts->profiler.max_iterations, 0);
  EXPECT_EQ(facts->instance.Text(), "id:abc start:1500000000");
  EXPECT_EQ(facts->dtype, "torch.bfloat16");
  EXPECT_EQ(facts->quantization, "fp8");
  EXPECT_EQ(facts->kv_cache_dtype, "fp8_e4m3");
}

TEST(ReadFacts, WhatAStartReadsIsWhatItsInterfaceNames) {
  const auto reads = [](const char* fields) {
    ProbeAnswers answers;
    answers[kModels] = Ok(kVllmModels);
    answers[kVersion] = Ok(R"({"version":"0.33.0"})");
    answers[kOpenApi] =
        Ok(std::string(R"({"paths":{"/start_profile":{"post":{"requestBody":{"content":{}}}}},)"
                       R"("components":{"schemas":{"StartProfileRequest":{"properties":)") +
           fields + "}}}}");
    return ReadFacts("http://h:1", answers)->profiler.reads_kwargs;
  };
  EXPECT_TRUE(reads(R"({"profile_prefix":{},"profiler_kwargs":{}})"));
  EXPECT_FALSE(reads(R"({"profile_prefix":{}})"));
  EXPECT_FALSE(reads("[]"));
}

TEST(ReadFacts, APlainVllmReportsLessAndNothingIsInvented) {
  ProbeAnswers answers;
  answers[kModels] = Ok(kVllmModels);
  answers[kVersion] = Ok(R"({"version":"0.13.0"})");
  answers[kOpenApi] = Ok(R"({"paths":{"/start_profile":{"post":{}}}})");
  answers[kServerInfo] = Status(404);
  answers[kMetrics] =
      Ok("vllm:iteration_tokens_total_count{engine=\"0\"} 4\n"
         "vllm:iteration_tokens_total_count{engine=\"1\"} 4\n"
         "vllm:cache_config_info{block_size=\"16\",cache_dtype=\"fp8\",engine=\"0\"} 1.0\n"
         "vllm:engine_sleep_state{engine=\"0\",sleep_state=\"awake\"} 0.0\n"
         "vllm:engine_sleep_state{engine=\"0\",sleep_state=\"weights_offloaded\"} 1.0\n");
  auto facts = ReadFacts("http://h:1", answers);
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->profiler.has_http);
  EXPECT_FALSE(facts->profiler.reads_body);
  EXPECT_EQ(facts->data_parallel, 2);
  EXPECT_EQ(facts->asleep, true);
  EXPECT_FALSE(facts->ExpectedRanks());
  EXPECT_EQ(facts->kv_cache_dtype, "fp8");
  EXPECT_EQ(facts->quantization, "");
  EXPECT_FALSE(facts->profiler.with_stack);
  EXPECT_FALSE(facts->profiler.folder);
}

TEST(ReadFacts, OtherEnginesByWhatTheirRulesName) {
  ProbeAnswers tensorrt;
  tensorrt[kModels] = Ok(R"({"data":[{"id":"tiny","owned_by":"tensorrt_llm"}]})");
  tensorrt[kVersion] = Ok(R"({"version":"1.3.0"})");
  tensorrt[kOpenApi] = Ok(R"({"paths":{"/start_profile":{"post":{}}}})");
  tensorrt[kMetrics] = Ok(R"([{"iter":1,"iterLatencyMS":3.5}])");
  auto facts = ReadFacts("http://h:1", tensorrt);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->kind, EngineKind::kTensorRtLlm);
  EXPECT_EQ(facts->version, "1.3.0");
  EXPECT_TRUE(facts->profiler.has_http && facts->profiler.reads_body);
  EXPECT_FALSE(facts->has_metrics) << "JSON, not Prometheus' text";
  tensorrt[kOpenApi] = Ok(R"({"paths":{"/v1/models":{"get":{}}}})");
  EXPECT_FALSE(ReadFacts("http://h:1", tensorrt)->profiler.has_http) << "an older one";

  ProbeAnswers control;
  control[kModels] = Ok(R"({"data":[{"id":"tiny","owned_by":"self_hosted"}]})");
  control[kOpenApi] =
      Ok(R"({"paths":{"/start_profile":{},"/health_check":{},"/abort":{},"/generate":{}}})");
  EXPECT_EQ(ReadFacts("http://h:1", control)->kind, EngineKind::kTokenSpeed);

  ProbeAnswers dynamo;
  dynamo[kModels] = Status(404);
  dynamo[kMetrics] =
      Ok("dynamo_component_uptime_seconds 3\nvllm:iteration_tokens_total_count{engine=\"0\"} 4\n");
  facts = ReadFacts("http://h:1", dynamo);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->kind, EngineKind::kDynamoVllm);
  EXPECT_TRUE(facts->profiler.has_http);
  EXPECT_FALSE(facts->profiler.reads_body) << "it counts no steps";
  EXPECT_TRUE(facts->has_metrics);
  // A server that lists vLLM's models is a vLLM, whatever its metrics are named.
  dynamo[kModels] = Ok(kVllmModels);
  EXPECT_EQ(ReadFacts("http://h:1", dynamo)->kind, EngineKind::kVllm);
}

TEST(ReadFacts, SglangIsAlwaysReadyToProfile) {
  ProbeAnswers answers;
  answers[kModels] = Ok(R"({"object":"list","data":[{"id":"tiny","owned_by":"sglang"}]})");
  answers[kServerInfo] =
      Ok(R"({"version":"0.5.23","tp_size":2,"pp_size":1,"dp_size":1,"internal_states":[{}],
             "dtype":"auto","quantization":"w8a8_fp8","kv_cache_dtype":"fp8_e5m2"})");
  auto facts = ReadFacts("http://h:1", answers);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->kind, EngineKind::kSglang);
  EXPECT_TRUE(facts->profiler.has_http);
  EXPECT_TRUE(facts->profiler.reads_profile_id);
  EXPECT_EQ(facts->dtype, "auto");
  EXPECT_EQ(facts->quantization, "w8a8_fp8");
  EXPECT_EQ(facts->kv_cache_dtype, "fp8_e5m2");
  EXPECT_EQ(facts->ExpectedRanks(), 2);
}

TEST(ReadFacts, SizesThatNoDeploymentHasAreNotBelieved) {
  const auto told = [](const std::string& sizes) {
    ProbeAnswers answers;
    answers[kModels] = Ok(R"({"data":[{"id":"tiny","owned_by":"sglang"}]})");
    answers[kServerInfo] = Ok(R"({"internal_states":[],)" + sizes + "}");
    return *ReadFacts("http://h:1", answers);
  };
  EXPECT_EQ(told(R"("tp_size":8,"pp_size":64,"dp_size":128)").ExpectedRanks(), kMostRanks);
  EXPECT_EQ(told(R"("tp_size":8,"pp_size":64,"dp_size":128)").not_believed, "");
  for (const char* size : {"0", "-2", "65537", "100000000", "2000000000", "4294967298"}) {
    const EngineFacts facts = told(fmt::format(R"("tp_size":{},"dp_size":2)", size));
    EXPECT_FALSE(facts.tensor_parallel || facts.data_parallel) << size;
    EXPECT_EQ(facts.not_believed, fmt::format("tensor parallel {}", size));
    EXPECT_FALSE(facts.ExpectedRanks());
  }
  // A size beyond 64 bits, and sizes that are not numbers.
  EXPECT_FALSE(told(R"("tp_size":18446744073709551615)").tensor_parallel);
  EXPECT_FALSE(told(R"("tp_size":"2")").tensor_parallel);
  const EngineFacts product = told(R"("tp_size":65536,"pp_size":65536,"dp_size":65536)");
  EXPECT_FALSE(product.tensor_parallel || product.pipeline_parallel || product.data_parallel);
  EXPECT_THAT(product.not_believed, HasSubstr("65536, 65536 and 65536"));

  ProbeAnswers vllm;
  vllm[kModels] = Ok(kVllmModels);
  vllm[kServerInfo] =
      Ok(R"({"vllm_config":{"parallel_config":{"tensor_parallel_size":100000000}}})");
  EXPECT_EQ(ReadFacts("http://h:1", vllm)->not_believed, "tensor parallel 100000000");
  Worker router;
  router.url = "http://r:1";
  router.in_place_of.emplace().kind = EngineKind::kSmg;
  router.in_place_of->tensor_parallel = 100'000'000;
  EXPECT_FALSE(FactsInPlace(router).ExpectedRanks());
  EXPECT_EQ(FactsInPlace(router).not_believed, "tensor parallel 100000000");
  EXPECT_THAT(FindRisks(router, FactsInPlace(router), {}),
              testing::Contains(testing::Field(&Finding::id, FindingId::kRanksUnknown)));
}

TEST(ReadFacts, AnswersThatNestWithoutEndAreNone) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"a":)";
  deep += '1' + std::string(100'000, '}');
  ProbeAnswers answers;
  answers[kModels] = Ok(kVllmModels);
  answers[kServerInfo] = Ok(R"({"vllm_config":{"profiler_config":)" + deep + "}}");
  const auto facts = ReadFacts("http://h:1", answers);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->kind, EngineKind::kVllm);
  EXPECT_FALSE(facts->profiler.kind);
}

TEST(ReadFacts, AServerThatIsNoEngineIsNamed) {
  auto why = [](int status, std::vector<HttpHeader> headers = {}) {
    ProbeAnswers answers;
    answers[kModels] = Status(status, std::move(headers));
    return ReadFacts("http://h:1", answers).error().message;
  };
  EXPECT_THAT(why(404, {{"Server", "nginx"}}), HasSubstr("a web server (nginx)"));
  EXPECT_THAT(why(401), HasSubstr("--api-key"));
  EXPECT_THAT(why(302, {{"Location", "http://login/"}}), HasSubstr("http://login/"));
  EXPECT_THAT(why(503), HasSubstr("not ready"));
  EXPECT_THAT(why(404), testing::StartsWith("http://h:1: "));
}

TEST(ReadFacts, JsonOfTheWrongShapeIsIgnored) {
  for (const char* body : {"[]", "3", "null", "{\"data\":3}", "{\"data\":[3]}", "{\"data\":[]}",
                           "\xff", "{\"data\":[{\"owned_by\":\"vllm\",\"id\":7}]}"}) {
    ProbeAnswers answers;
    for (auto& answer : answers) answer = Ok(body);
    auto facts = ReadFacts("http://h:1", answers);
    if (facts) {
      EXPECT_EQ(facts->version, "") << body;
    }
  }
}

}  // namespace
}  // namespace tacho
