#include "load/drive/failure_streak.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(FailureStreak, AServerThatWasThereMayComeBackForTwoMinutes) {
  FailureStreak dead;
  dead.Count(true, 1 * kNsPerSecond);
  EXPECT_FALSE(dead.IsHopeless(3 * kNsPerSecond));
  EXPECT_TRUE(dead.IsHopeless(4 * kNsPerSecond));
  FailureStreak died;
  EXPECT_FALSE(died.IsHopeless(1000 * kNsPerSecond));
  died.Count(false, 1 * kNsPerSecond);
  died.Count(true, 10 * kNsPerSecond);
  died.Count(true, 100 * kNsPerSecond);
  EXPECT_FALSE(died.IsHopeless(129 * kNsPerSecond));
  EXPECT_TRUE(died.IsHopeless(130 * kNsPerSecond));
  died.Count(false, 129 * kNsPerSecond);
  died.Count(true, 130 * kNsPerSecond);
  EXPECT_FALSE(died.IsHopeless(140 * kNsPerSecond));
}

}  // namespace
}  // namespace tacho
