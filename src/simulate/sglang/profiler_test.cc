#include "simulate/sglang/profiler.h"

#include <gtest/gtest.h>

namespace tacho::simulate {
namespace {

StepLoad Prefill() {
  StepLoad load;
  load.context.Add(4, 4);
  return load;
}
StepLoad Decode() {
  StepLoad load;
  load.generation.Add(1, 5);
  return load;
}

// Runs batches and counts what is recorded, as the scheduler would see it.
class Scheduler {
 public:
  explicit Scheduler(const char* version = "0.5.23") : profiler(*ParseSglangVersion(version)) {}

  bool Start(SglangProfileRequest request) {
    const auto reply = profiler.Start(request, forward);
    Follow(reply.orders);
    return reply.good;
  }
  bool Stop() {
    const auto reply = profiler.Stop();
    Follow(reply.orders);
    return reply.good;
  }
  void Batch(const StepLoad& load) {
    Follow(profiler.OnBatch(load, ++forward));
    if (recording) ++steps;
  }

  SglangProfiler profiler;
  int64_t forward = 10;
  bool recording = false, dead = false;
  int steps = 0;
  std::vector<std::pair<std::string, int>> files;  // stage, steps

 private:
  void Follow(const std::vector<SglangProfiler::Order>& orders) {
    using Kind = SglangProfiler::Order::Kind;
    for (const auto& order : orders) {
      if (order.kind == Kind::kDie) dead = true;
      if (order.kind == Kind::kBegin) {
        recording = true;
        steps = 0;
      }
      if (order.kind == Kind::kWrite) {
        recording = false;
        files.emplace_back(order.stage, steps);
      }
    }
  }
};

using Files = std::vector<std::pair<std::string, int>>;

TEST(SglangProfiler, RecordsNSteps) {
  for (const auto& [version, steps] : {std::pair{"0.5.23", 5}, std::pair{"0.5.14", 4}}) {
    Scheduler scheduler(version);
    EXPECT_TRUE(scheduler.Start({.num_steps = 5}));
    for (int i = 0; i < 9; ++i) scheduler.Batch(Decode());
    EXPECT_EQ(scheduler.files, (Files{{"", steps}})) << version;
    EXPECT_FALSE(scheduler.Stop());
    Scheduler exact(version);
    exact.Start({.start_step = 1, .num_steps = 5});
    for (int i = 0; i < 9; ++i) exact.Batch(Decode());
    EXPECT_EQ(exact.files, (Files{{"", 5}})) << version;
  }
}

TEST(SglangProfiler, StagesEndAsTheRealOnesDo) {
  Scheduler scheduler;
  scheduler.Start({.num_steps = 3, .by_stage = true});
  scheduler.Batch(Prefill());
  for (int i = 0; i < 6; ++i) scheduler.Batch(Decode());
  EXPECT_EQ(scheduler.files, (Files{{"EXTEND", 1}, {"DECODE", 3}}));
}

TEST(SglangProfiler, DecodeStageAbsorbsAPrefill) {
  Scheduler scheduler;
  scheduler.Start({.num_steps = 3, .by_stage = true});
  scheduler.Batch(Prefill());
  scheduler.Batch(Decode());
  scheduler.Batch(Prefill());
  for (int i = 0; i < 4; ++i) scheduler.Batch(Decode());
  EXPECT_EQ(scheduler.files, (Files{{"EXTEND", 1}, {"DECODE", 4}}));
}

TEST(SglangProfiler, StagesWithoutStepsKillAFreshScheduler) {
  Scheduler scheduler;
  EXPECT_TRUE(scheduler.Start({.by_stage = true}));
  scheduler.Batch(Prefill());
  EXPECT_TRUE(scheduler.dead);
}

TEST(SglangProfiler, SecondStartLosesTheFirstRecording) {
  Scheduler scheduler;
  SglangProfileRequest first{.prefix = "first"}, second{.prefix = "second"};
  scheduler.Start(first);
  scheduler.Batch(Decode());
  EXPECT_TRUE(scheduler.Start(second));
  scheduler.Batch(Decode());
  EXPECT_FALSE(scheduler.Start({.start_step = 1}));
  scheduler.Batch(Decode());
  EXPECT_TRUE(scheduler.Stop());
  EXPECT_EQ(scheduler.files, (Files{{"", 2}}));
  EXPECT_EQ(scheduler.profiler.session().prefix, "first");
  EXPECT_FALSE(scheduler.Stop());
}

TEST(SglangProfiler, OddNumbersOfSteps) {
  Scheduler never;
  never.Start({.num_steps = 0});
  for (int i = 0; i < 5; ++i) never.Batch(Decode());
  EXPECT_TRUE(never.files.empty());
  Scheduler negative;
  negative.Start({.num_steps = -1});
  negative.Batch(Decode());
  EXPECT_EQ(negative.files, (Files{{"", 0}}));
  Scheduler far;
  far.Start({.start_step = 1000, .num_steps = 2});
  far.Batch(Decode());
  EXPECT_FALSE(far.Stop());
}

TEST(SglangProfiler, UnknownActivitiesRecordNothing) {
  Scheduler scheduler;
  SglangProfileRequest request;
  request.activities = {"NPU"};
  EXPECT_TRUE(scheduler.Start(request));
  EXPECT_FALSE(scheduler.recording);
  EXPECT_FALSE(scheduler.Stop());
}

TEST(ReadSglangProfileRequest, IsAsStrictAsTheServer) {
  const auto good = [](const char* body) {
    return std::holds_alternative<SglangProfileRequest>(ReadSglangProfileRequest(body));
  };
  EXPECT_TRUE(good(""));
  EXPECT_TRUE(good(R"({"num_steps":"3","nosuch":1,"output_dir":null})"));
  for (const char* bad : {"nonsense", "[]", R"({"num_steps":3.5})", R"({"output_dir":5})",
                          R"({"activities":"CPU"})", R"({"with_stack":1})"}) {
    EXPECT_FALSE(good(bad)) << bad;
  }
}

}  // namespace
}  // namespace tacho::simulate
