#include "model/track_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/trace_builder.h"

namespace tacho {
namespace {

struct RandomSlices {
  size_t count;
  int64_t span;     // starts lie in [0, span)
  int64_t longest;  // of most; each 16th reaches ten times as far
  bool in_order;    // of start, as profilers write them
};

// Operators and kernels on three tracks and streams; many start together, last for no time or have
// no External id.
Trace RandomTrace(uint32_t seed, const RandomSlices& shape) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  std::vector<int64_t> starts(shape.count);
  for (int64_t& start : starts) start = below(shape.span);
  if (shape.in_order) std::ranges::sort(starts);
  TraceBuilder b;
  for (const int64_t start : starts) {
    const std::string lane = std::to_string(below(3));
    const int64_t duration = below(shape.longest) * (below(16) == 0 ? 10 : 1);
    b.Host("cpu_op", "op",
           {.tid = lane, .start = start, .duration = duration, .external_id = below(4) - 1});
    b.Kernel("kernel", {.stream = lane, .start = start, .duration = duration});
  }
  return std::move(b).Finish();
}

// Small traces with many equal times, and one with blocks of blocks.
std::vector<Trace> RandomTraces() {
  std::vector<Trace> traces;
  for (const bool in_order : {true, false}) {
    for (uint32_t seed = 0; seed < 30; ++seed) {
      traces.push_back(RandomTrace(seed, {seed, 12, 5, in_order}));
    }
    traces.push_back(RandomTrace(99, {9000, 50'000, 200, in_order}));
  }
  return traces;
}

std::vector<uint32_t> Listed(const RowList& list) {
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < list.size(); ++i) rows.push_back(list[i]);
  return rows;
}

template <typename LaneId>
std::vector<uint32_t> RowsOfLane(const Column<LaneId>& lane_of, size_t lane) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < lane_of.size(); ++row) {
    if (Index(lane_of[row]) == lane) rows.push_back(row);
  }
  return rows;
}

TEST(TrackIndex, EachLaneHasItsRowsOnceAndInOrder) {
  for (const Trace& trace : RandomTraces()) {
    const TrackIndex index(trace);
    const GpuTable& gpu = trace.gpu;
    ASSERT_EQ(index.gpu().lanes(), trace.words.streams().size());
    for (size_t lane = 0; lane < index.gpu().lanes(); ++lane) {
      std::vector<uint32_t> expected = RowsOfLane(gpu.stream, lane);
      std::ranges::sort(expected, {}, [&](uint32_t row) {
        return std::tuple(gpu.When(row).start, gpu.When(row).end, row);
      });
      EXPECT_EQ(Listed(index.gpu().Of(lane)), expected);
    }
    const HostOpTable& ops = trace.host_ops;
    ASSERT_EQ(index.host_ops().lanes(), trace.words.tracks().size());
    for (size_t lane = 0; lane < index.host_ops().lanes(); ++lane) {
      std::vector<uint32_t> expected = RowsOfLane(ops.track, lane);
      std::ranges::sort(expected, {}, [&](uint32_t row) {
        const int64_t id = ops.external_id[row];
        return std::tuple(ops.When(row).start, -ops.When(row).end.ns, id <= 0, id > 0 ? id : 0,
                          row);
      });
      EXPECT_EQ(Listed(index.host_ops().Of(lane)), expected);
    }
  }
}

TEST(TrackIndex, FindsWhatALookAtEachRowFinds) {
  std::mt19937 random(7);
  for (const Trace& trace : RandomTraces()) {
    const TrackIndex index(trace);
    const int64_t last = trace.span.end.ns + 2;
    for (const LaneRows* rows : {&index.gpu(), &index.host_ops()}) {
      const SliceTable& table = rows->table();
      for (size_t lane = 0; lane < rows->lanes(); ++lane) {
        const RowList all = rows->Of(lane);
        for (int query = 0; query < 30; ++query) {
          const TimeNs a{static_cast<int64_t>(random() % static_cast<uint64_t>(last)) - 1};
          const Interval when{a, a + DurationNs{static_cast<int64_t>(random() % 8)}};
          std::vector<std::pair<size_t, uint32_t>> expected, found;
          size_t before = 0;
          for (size_t i = 0; i < all.size(); ++i) {
            const Interval slice = table.When(all[i]);
            if (slice.start < a) ++before;
            const bool open = slice.start < a && slice.end > a;
            if (open || when.contains(slice.start)) expected.emplace_back(i, all[i]);
          }
          rows->ForEachIn(lane, when,
                          [&](size_t place, uint32_t row) { found.emplace_back(place, row); });
          EXPECT_EQ(found, expected) << "at " << a.ns;
          EXPECT_EQ(rows->FirstFrom(lane, a), before);
        }
      }
    }
  }
}

TEST(TrackIndex, IsTheSameWithAnyNumberOfThreads) {
  const Trace trace = RandomTrace(5, {500, 400, 20, false});
  const TrackIndex one(trace, 1), many(trace, 4);
  for (size_t lane = 0; lane < one.host_ops().lanes(); ++lane) {
    EXPECT_EQ(Listed(one.host_ops().Of(lane)), Listed(many.host_ops().Of(lane)));
  }
}

TEST(TrackIndex, OfNothingIsEmpty) {
  const Trace trace = std::move(TraceBuilder()).Finish();
  const TrackIndex index(trace);
  EXPECT_EQ(index.host_ops().lanes(), 0u);
  EXPECT_EQ(index.gpu().lanes(), 0u);
}

TEST(TrackIndex, PutsTheOuterSliceFirstOnATrackAndTheShorterOneOnAStream) {
  TraceBuilder b;
  for (const int64_t duration : {5, 9, 0}) {
    b.Host("cpu_op", "op", {.start = 10, .duration = duration});
    b.Kernel("kernel", {.start = 10, .duration = duration});
  }
  const Trace trace = std::move(b).Finish();
  const TrackIndex index(trace);
  EXPECT_EQ(Listed(index.host_ops().Of(0)), (std::vector<uint32_t>{1, 0, 2}));
  EXPECT_EQ(Listed(index.gpu().Of(0)), (std::vector<uint32_t>{2, 0, 1}));
}

TEST(TrackIndex, TakesNoListForALaneThatTheFileHasInOrder) {
  TraceBuilder b;
  for (int64_t i = 0; i < 1000; ++i) b.Host("cpu_op", "op", {.start = i, .duration = 1});
  const Trace in_order = std::move(b).Finish();
  EXPECT_LT(TrackIndex(in_order).MemoryBytes(), 4000u);
}

}  // namespace
}  // namespace tacho
