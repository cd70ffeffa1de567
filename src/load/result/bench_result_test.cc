#include "load/result/bench_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "load/result/records_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;

LoadRecords Records() {
  LoadRecords records =
      RecordsForTest({RequestForTest(1000, {1050, 1060, 1070}),
                      RequestForTest(1000, {1030, 1045, 1060}), RequestForTest(1010, {})});
  records.requests[2].status = RequestStatus::kFailed;
  records.requests[2].error = "HTTP 500";
  return records;
}

BenchIdentity Identity() {
  BenchIdentity identity;
  identity.date = "20261121-115335";
  identity.model_id = "tiny";
  identity.tokenizer_id = "./model";
  identity.num_prompts = 3;
  identity.max_concurrency = 4;
  return identity;
}

// The keys that vLLM 0.32.0's `bench serve --save-result --save-detailed` wrote, in this order.
constexpr const char* kKeys[] = {"date",
                                 "endpoint_type",
                                 "backend",
                                 "label",
                                 "model_id",
                                 "tokenizer_id",
                                 "num_prompts",
                                 "request_rate",
                                 "burstiness",
                                 "max_concurrency",
                                 "duration",
                                 "completed",
                                 "failed",
                                 "total_input_tokens",
                                 "total_output_tokens",
                                 "request_throughput",
                                 "request_goodput",
                                 "output_throughput",
                                 "total_token_throughput",
                                 "input_lens",
                                 "output_lens",
                                 "ttfts",
                                 "itls",
                                 "latencies",
                                 "start_times",
                                 "queue_times",
                                 "generated_texts",
                                 "errors",
                                 "max_output_tokens_per_s",
                                 "max_concurrent_requests",
                                 "rtfx",
                                 "mean_ttft_ms",
                                 "median_ttft_ms",
                                 "std_ttft_ms",
                                 "p99_ttft_ms",
                                 "mean_tpot_ms",
                                 "median_tpot_ms",
                                 "std_tpot_ms",
                                 "p99_tpot_ms",
                                 "mean_itl_ms",
                                 "median_itl_ms",
                                 "std_itl_ms",
                                 "p99_itl_ms",
                                 "mean_e2el_ms",
                                 "median_e2el_ms",
                                 "std_e2el_ms",
                                 "p99_e2el_ms"};

TEST(BenchResult, HasVllmsKeysInItsOrder) {
  const LoadRecords records = Records();
  const auto json = nlohmann::ordered_json::parse(
      BenchResultJson(records, Summarise(records, {}), Identity(), {.detailed = true}));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAreArray(kKeys));
  EXPECT_EQ(json["label"], nullptr);
  EXPECT_EQ(json["request_rate"], "inf");
  EXPECT_EQ(json["request_goodput"], nullptr);
  EXPECT_EQ(json["completed"], 2);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["output_lens"], nlohmann::ordered_json({3, 3, 0}));
  EXPECT_EQ(json["errors"], nlohmann::ordered_json({"", "", "HTTP 500"}));
  EXPECT_DOUBLE_EQ(json["ttfts"][0], 0.05);
  EXPECT_EQ(json["itls"][1].size(), 2u);
  EXPECT_DOUBLE_EQ(json["itls"][1][0], 0.015);
  EXPECT_DOUBLE_EQ(json["latencies"][1], 0.06);
  EXPECT_DOUBLE_EQ(json["start_times"][0], 1.0);
  EXPECT_DOUBLE_EQ(json["mean_ttft_ms"], 40);
  EXPECT_DOUBLE_EQ(json["p99_ttft_ms"], 49.8);
  EXPECT_DOUBLE_EQ(json["std_ttft_ms"], 10);
  EXPECT_DOUBLE_EQ(json["max_output_tokens_per_s"], 6);
}

TEST(BenchResult, WithoutDetailsTheArraysByRequestAreLeftOut) {
  const LoadRecords records = Records();
  BenchIdentity identity = Identity();
  identity.request_rate = 2.5;
  identity.metadata = {{"version", "0.3.3"}};
  BenchMetrics metrics;
  metrics.names = {"ttft"};
  metrics.percents = {50, 99.9};
  metrics.goodput = true;
  const auto json =
      nlohmann::json::parse(BenchResultJson(records, Summarise(records, {}), identity, metrics));
  EXPECT_FALSE(json.contains("ttfts"));
  EXPECT_FALSE(json.contains("generated_texts"));
  EXPECT_TRUE(json.contains("latencies"));
  EXPECT_FALSE(json.contains("mean_tpot_ms"));
  EXPECT_TRUE(json.contains("p99.9_ttft_ms"));
  EXPECT_TRUE(json.contains("p50_ttft_ms"));
  EXPECT_EQ(json["version"], "0.3.3");
  EXPECT_EQ(json["request_rate"], 2.5);
  EXPECT_EQ(json["request_goodput"], 0.0);
}

TEST(BenchResult, TheTableIsVllms) {
  const LoadRecords records = Records();
  const std::string text = BenchResultText(records, Summarise(records, {}), Identity(), {}, "");
  EXPECT_EQ(text,
            "============ Serving Benchmark Result ============\n"
            "Successful requests:                     2         \n"
            "Failed requests:                         1         \n"
            "Maximum request concurrency:             4         \n"
            "Benchmark duration (s):                  0.07      \n"
            "Total input tokens:                      48        \n"
            "Total generated tokens:                  6         \n"
            "Request throughput (req/s):              28.57     \n"
            "Output token throughput (tok/s):         85.71     \n"
            "Peak output token throughput (tok/s):    6.00      \n"
            "Peak concurrent requests:                2.00      \n"
            "Total token throughput (tok/s):          771.43    \n"
            "---------------Time to First Token----------------\n"
            "Mean TTFT (ms):                          40.00     \n"
            "Median TTFT (ms):                        40.00     \n"
            "P99 TTFT (ms):                           49.80     \n"
            "-----Time per Output Token (excl. 1st token)------\n"
            "Mean TPOT (ms):                          12.50     \n"
            "Median TPOT (ms):                        12.50     \n"
            "P99 TPOT (ms):                           14.95     \n"
            "---------------Inter-token Latency----------------\n"
            "Mean ITL (ms):                           12.50     \n"
            "Median ITL (ms):                         12.50     \n"
            "P99 ITL (ms):                            15.00     \n"
            "----------------End-to-end Latency----------------\n"
            "Mean E2EL (ms):                          65.00     \n"
            "Median E2EL (ms):                        65.00     \n"
            "P99 E2EL (ms):                           69.90     \n"
            "==================================================\n");
}

TEST(BenchText, TellsFiguresOfOneNameApart) {
  LoadRecords records = Records();
  const BenchMetrics metrics;
  EXPECT_TRUE(BenchDifferences(records, Summarise(records, {}).whole, metrics).empty());
  for (RequestRecord& r : records.requests)  // the role came 20 ms before the first token
    if (r.first_choice_ns > 0) r.first_choice_ns -= 20'000'000;
  const LoadSummary summary = Summarise(records, {});
  const std::string text = BenchResultText(records, summary, Identity(), metrics, "");
  EXPECT_THAT(text, HasSubstr("--Time to First Chunk (a chat's role)--"));
  EXPECT_THAT(text, HasSubstr("Time per Output Token (from a chat's role on)"));
  EXPECT_THAT(text, HasSubstr("Median TTFT (ms):                        20.00"));
  const auto why = BenchDifferences(records, summary.whole, metrics);
  ASSERT_GE(why.size(), 2);
  EXPECT_THAT(why[0], HasSubstr("vLLM's TTFT ends with the first chunk"));
  EXPECT_THAT(why[1], HasSubstr("vLLM's TPOT begins with"));
  EXPECT_TRUE(BenchDifferences(records, summary.whole, {.names = {"e2el"}}).empty());
}

TEST(BenchResult, TheRoleOfAChatCountsAsVllmCountsIt) {
  LoadRecords records = RecordsForTest({RequestForTest(1000, {1050, 1060})});
  records.requests[0].first_choice_ns = 1'040'000'000;
  EXPECT_DOUBLE_EQ(BenchMetricOf(records, "ttft", {}).mean, 40);
  EXPECT_EQ(BenchMetricOf(records, "itl", {}).count, 2u);
  EXPECT_DOUBLE_EQ(BenchMetricOf(records, "tpot", {}).mean, 20);
}

TEST(BenchResult, UnknownMetricsAreRefused) {
  EXPECT_TRUE(CheckBenchMetrics({}));
  EXPECT_THAT(CheckBenchMetrics({.names = {"ttfx"}}).error().message,
              HasSubstr("no metric 'ttfx'"));
  EXPECT_FALSE(CheckBenchMetrics({.percents = {101}}));
}

TEST(BenchResult, FiguresThatTheClientSpoiltAreNull) {
  LoadRecords records = Records();
  records.requests[0].first_unsure = true;
  records.requests[0].unsure_chunks = 2;
  const LoadSummary summary = Summarise(records, {});
  const auto json = nlohmann::json::parse(
      BenchResultJson(records, summary, Identity(), {.percents = {99}, .detailed = true}));
  for (const char* key : {"mean_ttft_ms", "median_tpot_ms", "p99_itl_ms", "std_ttft_ms"}) {
    ASSERT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_TRUE(json["ttfts"][0].is_null());
  EXPECT_GT(json["mean_e2el_ms"], 0);
  EXPECT_EQ(json["client_bound"], true);
  const std::string text = BenchResultText(records, summary, Identity(), {}, "");
  EXPECT_THAT(text, HasSubstr("Limited by the client:              yes"));
  EXPECT_THAT(text, HasSubstr("TTFT (ms):                          read too late"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Median TTFT")));
  EXPECT_THAT(text, HasSubstr("Median E2EL"));
}

}  // namespace
}  // namespace tacho
