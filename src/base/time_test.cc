#include "base/time.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

constexpr Interval Span(int64_t start, int64_t end) { return {TimeNs{start}, TimeNs{end}}; }

TEST(Interval, IsHalfOpen) {
  EXPECT_TRUE(Span(10, 20).contains(TimeNs{10}));
  EXPECT_FALSE(Span(10, 20).contains(TimeNs{20}));
  EXPECT_TRUE(Span(10, 10).empty());
  EXPECT_EQ(Span(10, 4).length().ns, 0);
}

TEST(Interval, ClipKeepsTheCommonPart) {
  EXPECT_EQ(Span(0, 10).Clip(Span(4, 20)), Span(4, 10));
  EXPECT_TRUE(Span(0, 10).Clip(Span(10, 20)).empty());
}

TEST(Duration, SumsStayInRange) {
  DurationNs most{INT64_MAX}, least{INT64_MIN};
  most += DurationNs{1};
  least += DurationNs{-1};
  EXPECT_EQ(most.ns, INT64_MAX);
  EXPECT_EQ(least.ns, INT64_MIN);
  EXPECT_EQ(AddSaturated(INT64_MAX, INT64_MIN), -1);
}

}  // namespace
}  // namespace tacho
