#include "model/clocks.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

constexpr ClockId kRunClock{ClockOf::kRun}, kTrace0{ClockOf::kTrace, 0},
    kTrace1{ClockOf::kTrace, 1}, kHost0{ClockOf::kHost, 0}, kClientClock{ClockOf::kClient};

TEST(ClockMap, AChainAddsShiftsAndErrors) {
  ClockMap clocks;
  clocks.Relate(kTrace0, kHost0, {{1'000}});
  clocks.Relate(kClientClock, kHost0, {{-30}, DurationNs{4}});
  const auto shift = clocks.Between(kClientClock, kTrace0);
  ASSERT_TRUE(shift);
  EXPECT_EQ(*shift, (ClockShift{{-1'030}, DurationNs{4}}));
  EXPECT_EQ(shift->Convert(TimeNs{2'000}).ns, 970);
  EXPECT_EQ(shift->Widened({{2'000}, {2'100}}), (Interval{{966}, {1'074}}));
  EXPECT_EQ(clocks.Between(kTrace0, kClientClock), shift->Back());
}

TEST(ClockMap, ClocksWithoutAChainHaveNoCommonTime) {
  ClockMap clocks;
  EXPECT_FALSE(clocks.Between(kTrace0, kTrace1));
  EXPECT_EQ(clocks.Between(kTrace0, kTrace0), ClockShift{});
  clocks.Relate(kTrace0, kRunClock, {{5}});
  EXPECT_FALSE(clocks.Between(kTrace0, kTrace1));
  clocks.Relate(kTrace1, kRunClock, {{7}, std::nullopt});
  EXPECT_EQ(clocks.Between(kTrace0, kTrace1), (ClockShift{{-2}, std::nullopt}))
      << "an unknown error stays unknown";
  clocks.Relate(kTrace1, kRunClock, {{8}});
  EXPECT_EQ(clocks.Between(kTrace0, kTrace1), (ClockShift{{-3}}));
}

TEST(ClockShift, DamagedTimesSaturate) {
  const ClockShift shift{{INT64_MAX}, DurationNs{10}};
  EXPECT_EQ(shift.Convert(TimeNs{5}).ns, INT64_MAX);
  EXPECT_EQ(shift.Widened({{INT64_MIN}, {INT64_MAX}}).end.ns, INT64_MAX);
  EXPECT_EQ(shift.Then(shift).shift.ns, INT64_MAX);
  EXPECT_EQ((ClockShift{{INT64_MIN}}).Back().shift.ns, INT64_MAX);
}

}  // namespace
}  // namespace tacho
