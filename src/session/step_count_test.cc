#include "session/step_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(StepsBetween, AreThoseOfTheEnginesThatBothLooksTell) {
  EXPECT_THAT(StepsBetween(EnginesWith({{"0", 10}, {"1", 20}, {"2", {}}}),
                           EnginesWith({{"1", 25}, {"0", 10}, {"2", 7}, {"3", 9}})),
              ElementsAre(5, 0));
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
