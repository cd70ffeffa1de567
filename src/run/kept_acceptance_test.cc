#include "run/kept_acceptance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

std::string Vllm(int drafts, int proposed, int accepted, const char* engine = "0") {
  std::string text;
  const auto add = [&](const char* name, int value) {
    text += std::string("vllm:spec_decode_num_") + name + "_total{engine=\"" + engine + "\"} " +
            std::to_string(value) + ".0\n";
  };
  add("drafts", drafts);
  add("draft_tokens", proposed);
  add("accepted_tokens", accepted);
  return text;
}

TEST(AcceptanceOf, AddsUpCountersOfTheRecording) {
  const Acceptance of = AcceptanceOf(Vllm(100, 300, 200) + Vllm(0, 0, 0, "1"),
                                     Vllm(140, 420, 260) + Vllm(10, 30, 5, "1"));
  EXPECT_EQ(of.from, AcceptedFrom::kCounters);
  EXPECT_DOUBLE_EQ(of.tokens.value(), 1 + 65.0 / 50);
  EXPECT_DOUBLE_EQ(of.share.value(), 65.0 / 150);
}

TEST(AcceptanceOf, TakesTheMeanGaugeOfFirstRanks) {
  const std::string gauge =
      "sglang:spec_accept_length{dp_rank=\"0\",tp_rank=\"0\"} 2.5\n"
      "sglang:spec_accept_length{dp_rank=\"0\",tp_rank=\"1\"} 9.0\n"
      "sglang:spec_accept_length{dp_rank=\"1\",tp_rank=\"0\"} 3.5\n"
      "sglang:spec_accept_length{dp_rank=\"2\",tp_rank=\"0\"} 0.0\n";
  const Acceptance of = AcceptanceOf("", gauge);
  EXPECT_EQ(of.from, AcceptedFrom::kGauge);
  EXPECT_DOUBLE_EQ(of.tokens.value(), 3);
  EXPECT_FALSE(of.share);
}

TEST(AcceptanceOf, IsUnknownWithoutUsableMetrics) {
  const std::string idle = "sglang:spec_accept_length{tp_rank=\"0\"} 0.0\n";
  for (const auto& [before, after] :
       {std::pair(std::string(), std::string()),
        {idle, idle},
        {Vllm(9, 9, 9), Vllm(9, 9, 9)},
        {Vllm(9, 27, 9), Vllm(5, 15, 5)},  // the engine was started again
        {Vllm(9, 27, 20), Vllm(20, 60, 5)}}) {
    const Acceptance of = AcceptanceOf(before, after);
    EXPECT_EQ(of.from, AcceptedFrom::kNoMetrics) << after;
    EXPECT_FALSE(of.tokens);
  }
}

TEST(KeptAcceptance, ReadsTheMetricsOfTheTracesWorker) {
  const FolderForTest folder;
  const std::string trace = folder.path() + "/traces/w1/rank0.json";
  Speculation of;
  const auto from = [&](const std::string& path) {
    AddKeptAcceptance(path, of);
    return of.accepted.from;
  };
  EXPECT_EQ(from(folder.path() + "/rank0.json"), AcceptedFrom::kNoRecording);
  EXPECT_EQ(from(trace), AcceptedFrom::kNoMetrics);
  std::filesystem::create_directory(folder.path() + "/metrics");
  std::ofstream(folder.path() + "/metrics/w1-after.txt") << Vllm(140, 420, 260);
  EXPECT_EQ(from(trace), AcceptedFrom::kNoMetrics) << "since the engine's start";
  std::ofstream(folder.path() + "/metrics/w1-before.txt") << Vllm(100, 300, 200);
  EXPECT_EQ(from(trace), AcceptedFrom::kCounters);
  EXPECT_DOUBLE_EQ(of.accepted.tokens.value(), 2.5);
  // Steps in which one token is proposed for a request on average. Half of them are accepted.
  of.requests = 10;
  of.tokens = 20;
  AddKeptAcceptance(trace, of);
  EXPECT_DOUBLE_EQ(of.accepted.tokens.value(), 1.5);
}

}  // namespace
}  // namespace tacho
