#include "base/interval_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tacho {
namespace {

using testing::ElementsAre;

Interval From(int64_t start, int64_t end) { return {TimeNs{start}, TimeNs{end}}; }

TEST(IntervalSet, JoinsWhatOverlapsOrTouches) {
  const IntervalSet set({From(30, 40), From(5, 5), From(0, 10), From(10, 12), From(35, 36)});
  EXPECT_THAT(set.intervals(), ElementsAre(From(0, 12), From(30, 40)));
  EXPECT_THAT(set.Gaps().intervals(), ElementsAre(From(12, 30)));
  EXPECT_TRUE(IntervalSet().Gaps().empty());
}

// Compares each operation with a check of every instant.
TEST(IntervalSet, AgreesWithItsInstants) {
  constexpr int64_t kLength = 60;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    std::vector<bool> in[2];
    IntervalSet sets[2];
    for (int i = 0; i < 2; ++i) {
      in[i].assign(kLength, false);
      std::vector<Interval> intervals;
      for (int64_t n = below(8); n > 0; --n) {
        const int64_t start = below(50), end = start + below(10);
        intervals.push_back(From(start, end));
        for (int64_t t = start; t < end; ++t) in[i][static_cast<size_t>(t)] = true;
      }
      sets[i] = IntervalSet(intervals);
    }
    const IntervalSet both = sets[0].Within(sets[1]), rest = sets[0].Without(sets[1]);
    const Interval when = From(below(30), 30 + below(30));
    int64_t covered = 0;
    for (int64_t t = 0; t < kLength; ++t) {
      const auto at = static_cast<size_t>(t);
      const Interval instant = From(t, t + 1);
      EXPECT_EQ(sets[0].Touches(instant), in[0][at]);
      EXPECT_EQ(both.Covered(instant).ns, in[0][at] && in[1][at] ? 1 : 0) << seed << " " << t;
      EXPECT_EQ(rest.Covered(instant).ns, in[0][at] && !in[1][at] ? 1 : 0) << seed << " " << t;
      covered += when.contains(TimeNs{t}) && in[0][at] ? 1 : 0;
    }
    EXPECT_EQ(sets[0].Covered(when).ns, covered);
    EXPECT_EQ(sets[0].Touches(when), covered > 0);
    TimeNs at = when.start;
    sets[0].ForEachPart(when, [&](Interval part, bool inside) {
      EXPECT_EQ(part.start, at);
      EXPECT_FALSE(part.empty());
      EXPECT_EQ(sets[0].Covered(part), inside ? part.length() : DurationNs{});
      at = part.end;
    });
    EXPECT_EQ(at, std::max(when.start, when.end));
  }
}

}  // namespace
}  // namespace tacho
