#include "simulate/engine/engine.h"

#include <gtest/gtest.h>

namespace tacho::simulate {
namespace {

struct Heard : TokenListener {
  std::vector<int64_t> times;
  bool over = false, wanted = true, aborted = false;
  void OnToken(int64_t now_ns, bool last) override {
    times.push_back(now_ns);
    over = over || last;
  }
  bool IsWanted() const override { return wanted; }
  void OnAborted() override { aborted = true; }
};

EngineOptions Options() {
  EngineOptions options;
  options.cost = {*FindModelShape("tiny"), *FindHardware("h100"), 1, 1};
  return options;
}

class EngineTest : public ::testing::Test {
 protected:
  std::shared_ptr<Heard> Ask(uint64_t id, int64_t prompt, int64_t output) {
    auto heard = std::make_shared<Heard>();
    engine_.Submit({id, prompt, 0, output, 0}, heard);
    return heard;
  }
  void RunFor(int64_t ns) { loop_.RunUntil(loop_.NowNs() + ns); }

  VirtualLoop loop_;
  Engine engine_{Options(), loop_};
};

TEST_F(EngineTest, AnswersInTimeAndCounts) {
  const auto heard = Ask(1, 32, 5);
  RunFor(1'000'000'000);
  EXPECT_TRUE(heard->over);
  ASSERT_EQ(heard->times.size(), 5U);
  EXPECT_LT(heard->times[0], heard->times[4]);
  EXPECT_EQ(engine_.stats().generation_tokens, 5U);
  EXPECT_EQ(engine_.stats().prompt_tokens, 32U);
  EXPECT_EQ(engine_.stats().steps, 5U);
  EXPECT_EQ(engine_.steps(), 6U);  // the last one only looks at the empty batch
  EXPECT_EQ(engine_.stats().e2e_s.count(), 1U);
  EXPECT_EQ(engine_.stats().inter_token_s.count(), 4U);
}

TEST_F(EngineTest, RecordingHasTheStepsOfItsWindow) {
  const int all = engine_.OpenRecording();
  Ask(1, 32, 5);
  RunFor(1'000'000'000);
  const Recording recording = engine_.CloseRecording(all);
  ASSERT_EQ(recording.steps.size(), 6U);
  EXPECT_EQ(StepName(StepNames::kContext, recording.steps[0]),
            "execute_context_1(32)_generation_0(0)");
  EXPECT_EQ(StepName(StepNames::kContext, recording.steps[1]),
            "execute_context_0(0)_generation_1(1)");
  EXPECT_EQ(StepName(StepNames::kContext, recording.steps[5]),
            "execute_context_0(0)_generation_0(0)");
  for (size_t i = 1; i < recording.steps.size(); ++i) {
    EXPECT_GT(recording.steps[i].start_ns, recording.steps[i - 1].start_ns);
  }
}

TEST_F(EngineTest, GateHoldsTheStepUntilResume) {
  int asked = 0;
  engine_.set_gate([&](const StepBatch&) { return ++asked != 2; });
  const auto heard = Ask(1, 8, 4);
  RunFor(1'000'000'000);
  EXPECT_EQ(heard->times.size(), 1U);
  EXPECT_TRUE(engine_.stalled());
  bool ran = false;
  engine_.BetweenSteps([&] { ran = true; });
  EXPECT_FALSE(ran);
  engine_.Resume();
  RunFor(1'000'000'000);
  EXPECT_TRUE(heard->over);
  EXPECT_TRUE(ran);
}

TEST_F(EngineTest, WhoIsGoneIsAborted) {
  const auto heard = Ask(1, 8, 1000);
  const auto other = Ask(2, 8, 20);
  RunFor(5'000'000);
  heard->wanted = false;
  RunFor(1'000'000'000);
  EXPECT_FALSE(heard->over);
  EXPECT_TRUE(other->over);
  EXPECT_TRUE(engine_.batcher().idle());
  EXPECT_EQ(engine_.stats().finished[static_cast<size_t>(FinishReason::kAbort)], 1U);
}

TEST_F(EngineTest, DeathAbortsAll) {
  const auto heard = Ask(1, 8, 1000);
  RunFor(5'000'000);
  engine_.Kill();
  RunFor(1'000'000'000);
  EXPECT_TRUE(heard->aborted);
  EXPECT_FALSE(engine_.busy() && !engine_.dead());
}

TEST_F(EngineTest, SameSeedSameTimes) {
  const auto heard = Ask(1, 100, 10);
  RunFor(1'000'000'000);
  VirtualLoop other_loop;
  Engine other(Options(), other_loop);
  const auto heard_again = std::make_shared<Heard>();
  other.Submit({1, 100, 0, 10, 0}, heard_again);
  other_loop.RunUntil(2'000'000'000);
  EXPECT_EQ(heard->times, heard_again->times);
}

}  // namespace
}  // namespace tacho::simulate
