#include "view/lane.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "view/lane_for_test.h"

namespace tacho {
namespace {

// Computes the same from the definition alone.
Bucket BruteForce(const Lane& lane, Interval column) {
  Bucket bucket;
  std::array<uint64_t, kColors> by_color{};
  for (size_t i = 0; i < lane.size(); ++i) {
    const Interval when = lane.When(i);
    if (!column.contains(when.start) && when.Clip(column).empty()) continue;
    if (bucket.count++ == 0 || when.length() > lane.When(bucket.longest).length()) {
      bucket.longest = static_cast<uint32_t>(i);
    }
    by_color[lane.ColorOf(i)] += static_cast<uint64_t>(when.Clip(column).length().ns);
  }
  for (const uint64_t time : by_color) bucket.busy_ns += time;
  const auto most = std::ranges::max_element(by_color);
  if (*most > 0) {
    bucket.color = static_cast<uint8_t>(most - by_color.begin());
  } else if (bucket.count > 0) {
    bucket.color = lane.ColorOf(bucket.longest);
  }
  return bucket;
}

TEST(Lane, ColumnsAreThoseOfTheDefinition) {
  for (const size_t count : {0u, 1u, 2u, 63u, 64u, 65u, 1023u, 1024u, 1025u, 3000u}) {
    // Half of the rounds use times that do not fit into 32 bits.
    const int64_t scale = count % 2 == 0 ? 1 : 100'000'000;
    Drawn drawn = RandomSlices(count + 7, count, scale);
    const Lane lane = drawn.lane();
    Random random(count);
    for (int round = 0; round < 40; ++round) {
      const TimeNs start{(static_cast<int64_t>(random.Below(40'000)) - 2000) * scale};
      const DurationNs width{static_cast<int64_t>(1 + random.Below(round % 2 == 0 ? 20 : 5000)) *
                             scale};
      std::vector<Bucket> columns(30);
      lane.Fold(start, width, columns);
      TimeNs at = start;
      for (const Bucket& column : columns) {
        EXPECT_EQ(column, BruteForce(lane, {at, at + width})) << count << " slices, at " << at.ns;
        at = at + width;
      }
    }
  }
}

TEST(Lane, BusyTimeAddsUpAtEveryWidth) {
  Drawn drawn = RandomSlices(1, 5000);
  const Lane lane = drawn.lane();
  uint64_t whole = 0;
  for (size_t i = 0; i < lane.size(); ++i) whole += static_cast<uint64_t>(lane.When(i).length().ns);
  const TimeNs first = lane.When(0).start, end = lane.When(lane.size() - 1).end;
  for (const int64_t width : {1, 7, 64, 1000, 100'000, 100'000'000}) {
    std::vector<Bucket> columns(static_cast<size_t>((end - first).ns / width + 1));
    lane.Fold(first, {width}, columns);
    uint64_t sum = 0;
    for (const Bucket& column : columns) {
      EXPECT_LE(column.busy_ns, static_cast<uint64_t>(width));
      sum += column.busy_ns;
    }
    EXPECT_EQ(sum, whole) << width;
  }
}

TEST(Lane, SlicesOfAWindow) {
  Drawn drawn({0});
  drawn.Add(10, 10, 0);
  drawn.Add(20, 0, 0);  // an instant
  drawn.Add(30, 5, 0);
  const Lane lane = drawn.lane();
  const auto in = [&](int64_t start, int64_t end) {
    const Lane::Places places = lane.In({{start}, {end}});
    return std::pair(places.first, places.last);
  };
  EXPECT_EQ(in(0, 10), std::pair(size_t{0}, size_t{0}));
  EXPECT_EQ(in(0, 11), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(in(19, 20), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(in(20, 21), std::pair(size_t{1}, size_t{2}));
  EXPECT_EQ(in(21, 30), std::pair(size_t{2}, size_t{2}));
  EXPECT_EQ(in(15, 40), std::pair(size_t{0}, size_t{3}));
  EXPECT_EQ(in(35, 40), std::pair(size_t{3}, size_t{3}));
}

TEST(Lane, TimesAtTheEndsOfTheRange) {
  Drawn drawn({0});
  const int64_t least = std::numeric_limits<int64_t>::min(), most = -(least + 1);
  drawn.Add(least, 100, 0);
  drawn.Add(most - 50, 49, 0);
  const Lane lane = drawn.lane();
  std::vector<Bucket> columns(3);
  lane.Fold({least}, {most}, columns);
  EXPECT_EQ(columns[0].busy_ns, 100u);
  EXPECT_EQ(columns[1].busy_ns, 49u);
  EXPECT_EQ(columns[2], Bucket{});
}

}  // namespace
}  // namespace tacho
