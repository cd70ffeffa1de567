#include "session/run_folder/compare_recordings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

KeptRun RunOf(double tokens_per_second, int64_t ttft_p50_ns) {
  KeptRun run;
  run.recording.models = {"Qwen/Qwen3-8B"};
  run.recording.cost_share = 0.031;
  run.recording.cost_error = 0.004;
  KeptWindow window{.duration = {5'000'000'000},
                    .requests_done = 40,
                    .requests_failed = 1,
                    .output_tokens = 900,
                    .tokens_per_second = tokens_per_second};
  window.ttft = KeptTimes{40, {ttft_p50_ns}, {2 * ttft_p50_ns}};
  run.recording.baseline = window;
  window.tokens_per_second = tokens_per_second * 0.97;
  run.recording.profiled = window;
  run.load = KeptLoad{{"arrivals", "\"users\""}, {"concurrency", "8"}};
  return run;
}

const Change* FigureOf(const RunChanges& changes, std::string_view name) {
  const auto at = std::ranges::find(changes.load, name, &NamedChange::name);
  return at == changes.load.end() ? nullptr : &at->change;
}

TEST(CompareRecordings, TakesTheUnprofiledWindow) {
  RunChanges changes;
  CompareRecordings({RunOf(800, 20'000'000)}, {RunOf(900, 30'000'000)}, changes);
  const Change* const rate = FigureOf(changes, "throughput");
  ASSERT_NE(rate, nullptr);
  EXPECT_EQ(rate->base, 800);
  EXPECT_EQ(rate->now, 900);
  EXPECT_FALSE(rate->half_width) << "one run a side";
  EXPECT_EQ(FigureOf(changes, "ttft.p50")->now, 30e6);
  EXPECT_EQ(FigureOf(changes, "ttft.p99")->now, 60e6);
  EXPECT_EQ(FigureOf(changes, "requests")->base, 8);
  EXPECT_EQ(FigureOf(changes, "failed")->base, 1);
  EXPECT_EQ(FigureOf(changes, "tpot.p50"), nullptr) << "no run has it";
  EXPECT_EQ(changes.remarks,
            (std::vector<std::string>{
                "the figures of the load are of its unprofiled windows (base 5.00 s, new 5.00 s)",
                "profiling slowed base by 3.1 % ± 0.4 %, slowed new by 3.1 % ± 0.4 %"}));
  EXPECT_TRUE(changes.obstacles.empty());
}

TEST(CompareRecordings, TakesTheProfiledWindowOfAllWhereOneHasNoOther) {
  RunChanges changes;
  KeptRun now = RunOf(900, 30'000'000);
  now.recording.baseline.reset();
  CompareRecordings({RunOf(800, 20'000'000)}, {now}, changes);
  EXPECT_EQ(FigureOf(changes, "throughput")->base, 800 * 0.97);
  EXPECT_NE(changes.remarks.front().find("of its profiled windows"), std::string::npos);
}

TEST(CompareRecordings, HasBoundsOverSeveralRuns) {
  RunChanges changes;
  CompareRecordings({RunOf(800, 1), RunOf(804, 1)}, {RunOf(900, 1), RunOf(904, 1)}, changes);
  const Change* const rate = FigureOf(changes, "throughput");
  EXPECT_EQ(rate->base, 802);
  EXPECT_EQ(rate->now, 902);
  // t of 0.995 with 2 degrees of freedom is 9.925; the variance of a run is 8 on both sides.
  ASSERT_TRUE(rate->half_width);
  EXPECT_NEAR(*rate->half_width, 9.925 * std::sqrt(8.0), 0.01);
  EXPECT_TRUE(rate->IsBeyondNoise());
}

TEST(CompareRecordings, AFigureThatSomeRunsLackIsNoMeanOfTheOthers) {
  RunChanges changes;
  KeptRun failed = RunOf(900, 1);
  failed.recording.baseline->ttft.reset();
  failed.recording.profiled->ttft.reset();
  CompareRecordings({RunOf(800, 1)}, {RunOf(900, 1), failed, RunOf(901, 1)}, changes);
  EXPECT_EQ(FigureOf(changes, "ttft.p50"), nullptr);
  EXPECT_NE(FigureOf(changes, "throughput"), nullptr);
  EXPECT_EQ(changes.load_lacks.at("load.ttft.p50"), "1 of 3 runs of new lack it");
  EXPECT_THAT(changes.remarks,
              testing::Contains("no ttft.p50, ttft.p99 of the load: 1 of 3 runs of new lack it"));
}

TEST(CompareRecordings, OtherLoadsAreAnObstacle) {
  RunChanges changes;
  KeptRun now = RunOf(900, 30'000'000);
  now.load = KeptLoad{{"arrivals", "\"poisson\""}, {"concurrency", "8"}, {"rate", "4.0"}};
  CompareRecordings({RunOf(800, 20'000'000)}, {now}, changes);
  EXPECT_TRUE(changes.load.empty());
  ASSERT_EQ(changes.obstacles.size(), 1u);
  EXPECT_EQ(changes.obstacles[0].id, "other-load");
  EXPECT_EQ(changes.obstacles[0].text,
            "the loads of base and new differ: arrivals (\"users\", \"poisson\"), "
            "rate (none, 4.0)");
  EXPECT_EQ(changes.why_no_load, changes.obstacles[0].text);
}

TEST(CompareRecordings, LeavesTheFiguresOutWhereALoadIsNotKnown) {
  RunChanges changes;
  KeptRun now = RunOf(900, 30'000'000);
  now.load.reset();
  CompareRecordings({RunOf(800, 20'000'000)}, {now}, changes);
  EXPECT_TRUE(changes.load.empty() && changes.obstacles.empty());
  EXPECT_EQ("no load figures: " + changes.why_no_load, changes.remarks.front());
}

TEST(CompareRecordings, SaysNothingOfTracesAlone) {
  RunChanges changes;
  CompareRecordings({std::nullopt}, {std::nullopt}, changes);
  CompareRecordings({std::nullopt}, {KeptRun{}}, changes);
  EXPECT_EQ(changes.why_no_load, "base is not a recording of tacho record under a load");
  EXPECT_TRUE(changes.load.empty() && changes.remarks.empty() && changes.obstacles.empty());
}

TEST(CompareRecordings, OtherModelsAreAnObstacle) {
  RunChanges changes;
  changes.obstacles = {{"other-kernels", ""}};
  KeptRun now = RunOf(900, 30'000'000);
  now.recording.models = {"Qwen/Qwen3-32B"};
  CompareRecordings({RunOf(800, 1)}, {now}, changes);
  ASSERT_EQ(changes.obstacles.size(), 2u);
  EXPECT_EQ(changes.obstacles[0].id, "other-model");
  EXPECT_EQ(changes.obstacles[0].text, "other models: base Qwen/Qwen3-8B, new Qwen/Qwen3-32B");
  changes = {};
  now.recording.models.clear();
  CompareRecordings({RunOf(800, 1)}, {now}, changes);
  EXPECT_TRUE(changes.obstacles.empty()) << "one side does not say";
}

TEST(KeptRunOf, ReadsTheFolderOfARecording) {
  const FolderForTest folder;
  EXPECT_FALSE(KeptRunOf(folder.path()));
  EXPECT_FALSE(KeptRunOf("-"));
  std::ofstream(folder.path() + "/run.json")
      << R"({"proof": {}, "workers": [{"model": "b"}, {"model": "a"}, {"model": "b"}, 7, {}]})";
  const auto run = KeptRunOf(folder.path());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->recording.models, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(run->load);
  std::ofstream(folder.path() + "/plan.json")
      << R"({"requests":41,"arrivals":"users","concurrency":8,"duration_ns":9,"seed":1,"salt":2,)"
         R"("most_total_tokens":100,"cut_to_model":0,)"
      << "\n\"list\":[\n";
  EXPECT_EQ(KeptRunOf(folder.path())->load,
            (KeptLoad{{"arrivals", "\"users\""}, {"concurrency", "8"}}));
}

}  // namespace
}  // namespace tacho
