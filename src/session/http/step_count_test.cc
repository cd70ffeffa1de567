#include "session/http/step_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/fake_engine_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;

MetricsSnapshot EnginesWith(std::vector<std::pair<std::string, std::optional<double>>> engines) {
  MetricsSnapshot snapshot;
  for (auto& [engine, steps] : engines) {
    snapshot.engines.emplace_back();
    snapshot.engines.back().engine = engine;
    snapshot.engines.back().steps = steps;
  }
  return snapshot;
}

TEST(StepsBetween, AreInTheOrderOfTheEnginesNumbers) {
  EXPECT_THAT(StepsBetween(EnginesWith({{"0", 10}, {"1", {}}, {"10", 7}, {"2", 20}}),
                           EnginesWith({{"0", 10}, {"1", 7}, {"10", 8}, {"2", 25}, {"3", 9}})),
              ElementsAre(0, std::nullopt, 5, 1));
}

TEST(StepsBetween, CountsOneCounter) {
  MetricsSnapshot before = EnginesWith({{"0", {}}}), after = before;
  before.engines[0].passes = 3;
  after.engines[0].passes = 10;
  EXPECT_THAT(StepsBetween(before, after), ElementsAre());
  EXPECT_THAT(StepsBetween(before, after, &EngineCounters::passes), ElementsAre(7));
}

// TensorRT-LLM's /metrics is a JSON array.
TEST(StepCount, MetricsWithoutAnEngineCountNothing) {
  const FakeEngine engine({{"GET /metrics", {200, "[]"}}});
  auto client = HttpClient::Create().value();
  Worker worker;
  worker.url = engine.url();
  StepCount count(*client, {worker}, std::chrono::seconds(5), 3, {});
  EXPECT_FALSE(count.Taken());
  EXPECT_FALSE(count.AnyTaken());
}

TEST(StepsToFlush, AreOneMoreThanAskedForAndTheDelay) {
  ProfileOptions profile;
  EXPECT_EQ(StepsToFlush(profile), std::nullopt);
  profile.steps = 5;
  EXPECT_EQ(StepsToFlush(profile), 6);
  profile.fields["delay_iterations"] = "3";
  EXPECT_EQ(StepsToFlush(profile), 9);
  profile.fields["profile_by_stage"] = "true";
  EXPECT_EQ(StepsToFlush(profile), std::nullopt);
}

}  // namespace
}  // namespace tacho
