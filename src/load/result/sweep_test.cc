#include "load/result/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Levels, GoOnInTheirRatio) {
  EXPECT_THAT(*ParseLevels("1,2,4..32"), ElementsAre(1, 2, 4, 8, 16, 32));
  EXPECT_THAT(*ParseLevels("4..20"), ElementsAre(4, 8, 16, 20));
  EXPECT_THAT(*ParseLevels("0.5,0.75..2"), ElementsAre(0.5, 0.75, 1.125, 1.688, 2));
  EXPECT_THAT(*ParseLevels("3"), ElementsAre(3));
  EXPECT_THAT(*ParseLevels("0.0001..0.0008"),
              ElementsAre(DoubleEq(0.0001), DoubleEq(0.0002), DoubleEq(0.0004), DoubleEq(0.0008)));
  for (const char* bad :
       {"", "0", "a", "1,1", "2,1", "1..", "..4", "4..2", "1,1.0001..1000", "1,1.0001..1.005"}) {
    EXPECT_FALSE(ParseLevels(bad)) << bad;
  }
}

TEST(Sweep, LatenciesAreInMs) {
  SweepLevel one;
  one.level = 1;
  one.summary.whole.ttft.percentiles = {{50, 12e9, {}, {}}, {99, 13e9, {}, {}}};
  one.summary.whole.tpot.percentiles = {{50, 20.7e6, {}, {}}, {99, 24e6, {}, {}}};
  const std::string text = SweepText({}, false, {one}, {});
  EXPECT_THAT(text, HasSubstr("TTFT p50 ms  p99 ms  TPOT p50 ms  p99 ms"));
  EXPECT_THAT(text, HasSubstr("12,000  13,000         20.7    24.0"));
}

TEST(Sweep, TheKneeIsWhereThroughputOverLatencyIsLargest) {
  const auto level = [](double at, double tokens_per_s, double e2e_ns) {
    SweepLevel one;
    one.level = at;
    one.summary.whole.output_tokens_per_s = tokens_per_s;
    one.summary.whole.e2e.percentiles = {{50, e2e_ns, {}, {}}};
    one.summary.whole.e2e.count = 10;
    return one;
  };
  std::vector<SweepLevel> levels = {level(1, 100, 1e9), level(2, 195, 1.02e9), level(4, 380, 1.1e9),
                                    level(8, 500, 1.7e9), level(16, 510, 3.3e9)};
  EXPECT_EQ(KneeOf(levels), 2u);
  levels[3].summary.whole.done = 1200;
  EXPECT_EQ(SweepLine(SweepOf::kConcurrency, levels[3]),
            "at once 8: 1,200 done, 0 req/s, 500 tok/s");
  levels[2].summary.verdict.client_bound = true;
  EXPECT_EQ(KneeOf(levels), 3u);
  levels[3].keeps_slos = false;
  EXPECT_EQ(KneeOf(levels), 1u);
  levels[1].ended_early = "all requests of the dataset were sent before the time was up";
  EXPECT_EQ(KneeOf(levels), 1u);
  levels[1].broken_off = true;
  EXPECT_EQ(KneeOf(levels), 4u);
  // The failure lies in the ramp-up, which the steady state leaves out.
  levels[4].summary.steady = levels[4].summary.whole;
  levels[4].summary.whole.failed = 1;
  EXPECT_EQ(KneeOf(levels), 0u);
  levels[0].summary.whole.partial = 1;
  EXPECT_FALSE(KneeOf(levels));
  EXPECT_FALSE(KneeOf({}));
  EXPECT_FALSE(KneeOf({levels[1]}));
  // A sweep that was interrupted in its second level has one complete level.
  SweepLevel stopped = level(2, 195, 1.02e9);
  stopped.broken_off = true;
  EXPECT_FALSE(KneeOf({level(1, 100, 1e9), stopped}));
}

}  // namespace
}  // namespace tacho
