#include "session/run_folder/kept_recording.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

constexpr const char* kRun =
    R"({"schema": 1, "tacho": {"version": "1.2"}, "command": "tacho record x",
  "proof": {"proven": 3, "ranks": 4}, "cost_of_profiling": {"share": 0.05, "error": 0.02},
  "baseline": {"duration_ns": 5000000000, "requests_done": 7, "requests_failed": 1, "output_tokens": 90,
    "output_tokens_per_s": 18.0, "ttft": {"requests": 7, "p50_ns": 1000, "p99_ns": 2000},
    "scenarios": [{"scenario": "chat", "requests_done": 6}, 5, {"scenario": "rag", "requests_failed": 1}]},
  "overhead": {"figures": [{"id": "itl", "change": 1}, {"id": "step", "change": 0.1, "low": 0.08, "high": 0.12}]},
  "profiled": 7, "missing": ["rank 1", 4], "troubles": [],
  "workers": [{"engine": "vllm", "model": "b"}, {"engine": "vllm", "model": "a"}, {"model": 4}]})";

TEST(KeptRecording, IsWhatRunJsonSays) {
  const auto kept = KeptRecordingOf(kRun);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->command, "tacho record x");
  EXPECT_EQ(kept->proven, 3);
  EXPECT_EQ(kept->cost_share, 0.05);
  ASSERT_TRUE(kept->step_change);
  EXPECT_EQ(kept->step_change->low, 0.08);
  ASSERT_TRUE(kept->baseline);
  EXPECT_EQ(kept->baseline->tokens_per_second, 18.0);
  EXPECT_EQ(kept->baseline->ttft->p99.ns, 2000);
  EXPECT_FALSE(kept->baseline->tpot);
  ASSERT_EQ(kept->baseline->scenarios.size(), 2u);
  EXPECT_EQ(kept->baseline->scenarios[0].requests_done, 6);
  EXPECT_EQ(kept->baseline->scenarios[1].scenario, "rag");
  EXPECT_EQ(kept->baseline->scenarios[1].duration.ns, 5'000'000'000);
  EXPECT_FALSE(kept->profiled) << "of another type";
  EXPECT_EQ(kept->engines, std::vector<std::string>{"vllm"});
  EXPECT_EQ(kept->models, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(kept->missing, std::vector<std::string>{"rank 1"});
  for (const char* other : {"", "{", "[]", "{\"proof\": {}}", "7"})
    EXPECT_FALSE(KeptRecordingOf(other)) << other;
}

TEST(KeptRecording, HasNoNegativeAndNoHugeNumber) {
  const auto kept = KeptRecordingOf(
      R"({"proof": {"proven": -1, "ranks": 18446744073709551615}, "workers": [],
  "baseline": {"duration_ns": -5, "requests_done": 9223372036854775807, "output_tokens": 2305843009213693952}})");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->proven, 0);
  EXPECT_EQ(kept->ranks, 0);
  EXPECT_EQ(kept->baseline->duration.ns, 0);
  EXPECT_EQ(kept->baseline->requests_done, 0);
  EXPECT_EQ(kept->baseline->output_tokens, int64_t{1} << 61);
}

TEST(KeptRecording, IsFoundByTheRunFolderAndByItsTraces) {
  const FolderForTest folder;
  std::filesystem::create_directories(folder.path() + "/traces/w0");
  std::ofstream(folder.path() + "/run.json") << kRun;
  EXPECT_EQ(RunJsonFor(folder.path()), kRun);
  EXPECT_EQ(RunJsonFor(folder.path() + "/"), kRun);
  EXPECT_EQ(RunJsonFor(folder.path() + "/traces"), kRun);
  EXPECT_EQ(RunJsonFor(folder.path() + "/traces/w0"), "");
  EXPECT_EQ(RunJsonFor("-"), "");
}

TEST(KeptLoad, LeavesOutWhatDiffersFromRunToRun) {
  const auto load = [](const std::string& facts) { return KeptLoadOf(facts); };
  const std::string timed = R"("arrivals":"users","duration_ns":5,"grace_ns":0,"concurrency":8,)";
  EXPECT_EQ(load("{\"requests\":41,\"salt\":1," + timed),
            load("{\"requests\":57,\"salt\":2,\"seed\":3," + timed + "\n"));
  EXPECT_NE(load(R"({"arrivals":"users","requests":41,)"),
            load(R"({"arrivals":"users","requests":57,)"))
      << "a load of so many requests";
  EXPECT_EQ(load(R"({"arrivals":"users","most_total_tokens":10,"cut_to_model":0,)"),
            load(R"({"arrivals":"users","most_total_tokens":20,"cut_to_model":0,)"));
  EXPECT_NE(load(R"({"arrivals":"users","most_total_tokens":10,"cut_to_model":3,)"),
            load(R"({"arrivals":"users","most_total_tokens":20,"cut_to_model":2,)"));
  EXPECT_NE(load(R"({"arrivals":"users","through_router":true,)"), load(R"({"arrivals":"users",)"));
  EXPECT_FALSE(load(R"({"arrivals":)" + std::string(30'000, '[') + std::string(30'000, ']') + ","))
      << "too deep to write again";
  for (const char* other : {"", "{", "{,", "[1,", "{\"requests\":1,", "7", "\n"})
    EXPECT_FALSE(load(other)) << other;
}

}  // namespace
}  // namespace tacho
