#include "session/http/flush_progress.h"

#include <gmock/gmock.h>

namespace tacho {
namespace {

constexpr int64_t kS = 1'000'000'000;

TEST(FlushText, OneLineAWorkerTheUnfinishedFirst) {
  EXPECT_EQ(FlushText(12 * kS, {{"http://a:1", 41'000'000, 3 * kS, "Profiler stopped."},
                                {"http://b:2", 45'200'000, {}, "Stopping profiler..."},
                                {"http://c:3", {}, {}, ""}}),
            "12.0 s\n"
            "  http://b:2  45.2 MB  log: Stopping profiler...\n"
            "  http://c:3\n"
            "  http://a:1  done after 3.0 s  41.0 MB");
  std::vector<FlushState> many(20, FlushState{"http://a:1", {}, {}, ""});
  EXPECT_THAT(FlushText(kS, many), testing::EndsWith("\n  and 12 more"));
}

TEST(FlushText, OfOneThatIsLateSaysWhatItDoesAndWhatWasExpected) {
  const FlushState late{.url = "http://a:1",
                        .bytes = 40'100'000,
                        .took_ns = {},
                        .said = "Stopping profiler",
                        .doing = "its table is being made",
                        .expected_ns = 3 * kS};
  EXPECT_EQ(
      FlushText(7 * kS, {late}),
      "7.0 s\n  http://a:1  40.1 MB  of 3.0 s expected  its table is being made  log: Stopping "
      "profiler");
  EXPECT_EQ(
      LateText(7 * kS, late),
      "http://a:1: its flush has taken 7.0 s where 3.0 s were expected: its table is being made "
      "(40.1 MB); its log: Stopping profiler");
  EXPECT_EQ(LateText(7 * kS, {"http://a:1", {}, {}, ""}), "http://a:1: its flush has taken 7.0 s");
}

TEST(FlushSummary, NamesTheSlowestOfSeveral) {
  EXPECT_EQ(FlushSummary(28 * kS, {{"http://a:1", 41'000'000, 3 * kS, ""},
                                   {"http://b:2", 45'200'000, 28 * kS, ""}}),
            "28.0 s, 86.2 MB; longest http://b:2, 28.0 s");
  EXPECT_EQ(FlushSummary(2 * kS, {{"http://a:1", {}, 2 * kS, ""}}), "2.0 s");
  EXPECT_EQ(FlushSummary(2 * kS, {}), "2.0 s");
}

}  // namespace
}  // namespace tacho
