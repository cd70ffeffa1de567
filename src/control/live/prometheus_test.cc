#include "control/live/prometheus.h"

#include <gmock/gmock.h>

namespace tacho {
namespace {

TEST(Prometheus, ReadsNamesLabelsAndNumbers) {
  auto samples = ParsePrometheus(
      "# HELP vllm:x what\n# TYPE vllm:x counter\n"
      "vllm:x{engine=\"0\",model_name=\"a\\\"b\\\\c\\n\"} 3.0\n"
      "plain 1e3 1395066363000\n"
      "histogram_bucket{le=\"+Inf\"} +Inf\n"
      "  spaced { a = \"1\" , b=\"2\" }   -7\n"
      "nan_is_a_number NaN\n");
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(samples[0].name, "vllm:x");
  EXPECT_EQ(samples[0].labels.at("model_name"), "a\"b\\c\n");
  EXPECT_EQ(samples[0].value, 3);
  EXPECT_EQ(samples[1].value, 1000);
  EXPECT_TRUE(std::isinf(samples[2].value));
  EXPECT_EQ(samples[3].labels.at("b"), "2");
  EXPECT_EQ(samples[3].value, -7);
}

TEST(Prometheus, IgnoresInvalidLines) {
  EXPECT_TRUE(ParsePrometheus("").empty());
  EXPECT_TRUE(ParsePrometheus("<html>\nname\nname{\nname{a\nname{a=\nname{a=\"\nname{a=\"b\"\n"
                              "name{a=\"b\"}\nname{a=\"b\"} x\n{} 1\n\n")
                  .empty());
}

TEST(Prometheus, CountersOfEachEngine) {
  auto engines =
      CountersIn(ParsePrometheus("vllm:iteration_tokens_total_count{engine=\"1\"} 7\n"
                                 "vllm:iteration_tokens_total_count{engine=\"0\"} 5\n"
                                 "vllm:iteration_tokens_total_sum{engine=\"0\"} 500\n"
                                 "vllm:generation_tokens_total{engine=\"0\"} 40\n"
                                 "vllm:num_requests_running{engine=\"0\"} 2\n"));
  ASSERT_EQ(engines.size(), 2u);
  EXPECT_EQ(engines[0].engine, "0");
  EXPECT_EQ(engines[0].steps, 5);
  EXPECT_EQ(engines[0].generation_tokens, 40);
  EXPECT_EQ(engines[0].running, 2);
  EXPECT_FALSE(engines[0].waiting.has_value());
  EXPECT_EQ(engines[1].steps, 7);
}

TEST(Prometheus, ForwardPassesAreNoSteps) {
  auto engines = CountersIn(
      ParsePrometheus("sglang:cuda_graph_passes_total{mode=\"decode_none\",tp_rank=\"0\"} 40\n"
                      "sglang:cuda_graph_passes_total{mode=\"prefill_none\",tp_rank=\"0\"} 3\n"
                      "sglang:cuda_graph_passes_total{mode=\"decode_none\",tp_rank=\"1\"} 40\n"));
  ASSERT_EQ(engines.size(), 1u);
  EXPECT_EQ(engines[0].passes, 43);
  EXPECT_FALSE(engines[0].steps);
}

TEST(Prometheus, ATensorParallelRankIsNotCountedAgain) {
  auto engines =
      CountersIn(ParsePrometheus("sglang:num_running_reqs{tp_rank=\"0\",dp_rank=\"0\"} 4\n"
                                 "sglang:num_running_reqs{tp_rank=\"1\",dp_rank=\"0\"} 4\n"));
  ASSERT_EQ(engines.size(), 1u);
  EXPECT_EQ(engines[0].running, 4);
}

}  // namespace
}  // namespace tacho
