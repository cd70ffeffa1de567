#include "simulate/vllm/profiler.h"

#include <gtest/gtest.h>

namespace tacho::simulate {
namespace {

VllmVersion Live() { return *ParseVllmVersion("0.32"); }
VllmVersion Old() { return *ParseVllmVersion("0.13.0"); }

struct Count {
  int recorded = 0, flushes = 0;
  int unrecorded_before = 0;
};
Count Steps(VllmWorkerProfiler& profiler, int steps) {
  Count run;
  for (int i = 0; i < steps; ++i) {
    run.flushes += profiler.OnStep().flush ? 1 : 0;
    if (profiler.recording()) {
      ++run.recorded;
    } else if (run.recorded == 0) {
      ++run.unrecorded_before;
    }
  }
  return run;
}

TEST(ParseVllmVersion, KnowsTheGenerations) {
  EXPECT_EQ(ParseVllmVersion("0.10.2")->generation, VllmGeneration::kEnvironment);
  EXPECT_EQ(ParseVllmVersion("0.13")->generation, VllmGeneration::kConfig);
  EXPECT_EQ(ParseVllmVersion("0.32")->text, "0.32.0");
  for (const char* bad : {"", "1.2", "0.", "0.x", "0.32rc"}) EXPECT_FALSE(ParseVllmVersion(bad));
}

TEST(ParseProfilerConfig, RefusesWhatTheVersionDoesNotKnow) {
  EXPECT_TRUE(ParseProfilerConfig(R"({"profiler":"torch","torch_profiler_dir":"x"})", Old()));
  EXPECT_FALSE(ParseProfilerConfig(R"({"warmup_iterations":1})", Old()));
  EXPECT_TRUE(ParseProfilerConfig(R"({"warmup_iterations":1})", Live()));
  EXPECT_FALSE(ParseProfilerConfig(R"({"nosuch_key":1})", Live()));
  EXPECT_FALSE(ParseProfilerConfig(R"({"profiler":"torch"})", Live()));
  EXPECT_FALSE(ParseProfilerConfig("[]", Live()));
}

TEST(WithKwargs, GoBeforeTheServersOwn) {
  VllmProfilerConfig server;
  server.profiler = "torch";
  const auto session =
      WithKwargs(server, R"({"with_stack":false,"profile_memory":true,"with_flops":true})");
  ASSERT_TRUE(session);
  EXPECT_FALSE(session->with_stack);
  EXPECT_TRUE(session->with_memory && session->with_flops);
  EXPECT_TRUE(WithKwargs(server, "")->with_stack);
  for (const char* bad : {R"({"no_such":true})", R"({"with_stack":"yes"})", R"({"with_stack":1})",
                          R"({"activities":["CPU"]})", R"({"schedule":{}})"})
    EXPECT_FALSE(WithKwargs(server, bad)) << bad;
  server.profiler = "cuda";
  EXPECT_TRUE(WithKwargs(server, R"({"no_such":true})")) << "it reads none";
}

TEST(VllmWorkerProfiler, RecordsNStepsAndWritesInTheNext) {
  VllmWorkerProfiler profiler({}, Live());
  EXPECT_TRUE(profiler.Start({}, 5));
  const Count first = Steps(profiler, 5);
  EXPECT_EQ(first.recorded, 5);
  EXPECT_EQ(first.flushes, 0);
  EXPECT_TRUE(profiler.OnStep().flush);
  EXPECT_FALSE(profiler.Stop());  // it has been written already
}

TEST(VllmWorkerProfiler, DelayLeavesOneStepLessUnprofiled) {
  VllmWorkerProfiler profiler({}, Live());
  EXPECT_FALSE(profiler.Start(3, 4));
  const Count run = Steps(profiler, 10);
  EXPECT_EQ(run.unrecorded_before, 2);
  EXPECT_EQ(run.recorded, 4);
  EXPECT_EQ(run.flushes, 1);
}

TEST(VllmWorkerProfiler, ScheduleRecordsStepsThreeToFive) {
  VllmProfilerConfig config;
  config.wait_iterations = 1;
  config.warmup_iterations = 2;
  config.active_iterations = 3;
  VllmWorkerProfiler profiler(config, Live());
  profiler.Start({}, {});
  std::vector<int64_t> marks;
  int flushes = 0;
  for (int i = 0; i < 12; ++i) {
    const auto order = profiler.OnStep();
    if (order.profiler_step) marks.push_back(*order.profiler_step);
    flushes += order.flush ? 1 : 0;
  }
  EXPECT_EQ(marks, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(flushes, 1);
  EXPECT_FALSE(profiler.Stop());
}

// Until 0.31 a session that ended by itself stays open, and a start is ignored silently.
TEST(VllmWorkerProfiler, OldOnesNeedAStopAfterTheirAutoStop) {
  for (const bool live : {false, true}) {
    VllmWorkerProfiler profiler({}, live ? Live() : Old());
    profiler.Start({}, 1);
    Steps(profiler, 3);
    EXPECT_EQ(profiler.Start({}, 1), live);
    if (!live) {
      EXPECT_FALSE(profiler.Stop());
      EXPECT_TRUE(profiler.Start({}, 1));
    }
  }
}

TEST(VllmWorkerProfiler, StopWithoutStepsStillWrites) {
  VllmWorkerProfiler profiler({}, Live());
  EXPECT_FALSE(profiler.Stop());
  profiler.Start({}, {});
  EXPECT_TRUE(profiler.Stop());
  EXPECT_FALSE(profiler.Stop());
}

}  // namespace
}  // namespace tacho::simulate
