#include "cli/options/window_argument.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

int64_t Ns(std::string_view text) {
  const auto parsed = ParseTraceTime(text);
  return parsed ? parsed->ns : -1;
}

TEST(ParseTraceTime, ExactInEveryUnit) {
  EXPECT_EQ(Ns("17"), 17);
  EXPECT_EQ(Ns("17ns"), 17);
  EXPECT_EQ(Ns("1.5us"), 1'500);
  EXPECT_EQ(Ns("1.2s"), 1'200'000'000);
  EXPECT_EQ(Ns("0.000000001s"), 1);
  EXPECT_EQ(Ns(".5ms"), 500'000);
  EXPECT_EQ(Ns("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(Ns("4.1"), 4);  // below one nanosecond
}

TEST(ParseTraceTime, RefusesEverythingElse) {
  for (const char* text : {"", "ms", ".", "1.2.3", "-5ms", "1e3", "12 ms", "5m",
                           "9223372036854775808", "9223372037s", "9223372036.9s"}) {
    EXPECT_EQ(Ns(text), -1) << text;
  }
}

TEST(ParseWindow, EitherSideMayBeLeftOut) {
  const auto both = ParseWindow("1.2s:1.5s");
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->begin, DurationNs{1'200'000'000});
  EXPECT_EQ(both->end, DurationNs{1'500'000'000});
  EXPECT_EQ(ParseWindow("100ms:")->end, std::nullopt);
  EXPECT_EQ(ParseWindow(":5")->begin, std::nullopt);
  EXPECT_TRUE(ParseWindow(":").has_value());
}

TEST(ParseWindow, TheUnitOfTheEndIsThatOfABeginningWithoutOne) {
  const auto begin = [](std::string_view text) { return ParseWindow(text)->begin->ns; };
  EXPECT_EQ(begin("10:20ms"), 10'000'000);
  EXPECT_EQ(begin("0.5:1s"), 500'000'000);
  EXPECT_EQ(begin("10us:20ms"), 10'000);
  EXPECT_EQ(begin("10:20"), 10);
  EXPECT_EQ(begin("10:"), 10);
  EXPECT_EQ(ParseWindow("10ms:20000000")->end, DurationNs{20'000'000});
  EXPECT_FALSE(ParseWindow("10:2us3").has_value());
}

TEST(ParseWindow, RefusesWhatIsNone) {
  for (const char* text : {"", "5ms", "5ms:4ms", "5ms:5ms", ":0", "a:b", "1:2:3"}) {
    const auto window = ParseWindow(text);
    ASSERT_FALSE(window.has_value()) << text;
    EXPECT_EQ(window.error().kind, ErrorKind::kUsage);
  }
}

TEST(TraceWindow, OnATrace) {
  const Interval span{{1000}, {2000}};
  EXPECT_EQ(*ParseWindow("100:200")->On(span), (Interval{{1100}, {1200}}));
  EXPECT_EQ(*ParseWindow(":1s")->On(span), span);
  EXPECT_EQ(*ParseWindow("900:")->On(span), (Interval{{1900}, {2000}}));
  EXPECT_FALSE(ParseWindow("1us:")->On(span).has_value());
}

}  // namespace
}  // namespace tacho
