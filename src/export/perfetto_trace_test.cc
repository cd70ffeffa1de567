#include "export/perfetto_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "export/export_window.h"
#include "export/nested_row.h"
#include "export/proto_writer.h"
#include "export/text_sink_for_test.h"
#include "view/viewed_for_test.h"

namespace tacho {
namespace {

std::vector<ExportedRank> WholeRanks(const ReadRanks& ranks, Interval window = kAllTime) {
  std::vector<ExportedRank> whole;
  for (uint32_t i = 0; i < ranks.size(); ++i)
    whole.push_back({ranks[i].get(), i, window, "rank " + std::to_string(i)});
  return whole;
}

TEST(ProtoWriter, EncodesAsProtobufDoes) {
  ProtoWriter inner, message;
  inner.Bytes(2, "testing");
  message.Number(1, 150);  // the examples of protobuf.dev/programming-guides/encoding
  message.Message(3, inner);
  message.Signed(1, -2);
  message.Fixed64(4, 258);
  message.Double(5, 1);
  EXPECT_EQ(message.bytes(), std::string("\x08\x96\x01\x1a\x09\x12\x07testing"
                                         "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                         "\x21\x02\x01\0\0\0\0\0\0"
                                         "\x29\0\0\0\0\0\0\xf0\x3f",
                                         43));
}

// Whatever overlaps: every slice begins and ends once, at its times; those of a track nest, and
// come in the order of time; and where all nest there is one track.
TEST(NestedTracks, AnyOverlapIsTakenApart) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    for (int i = 0; i < 200; ++i) {
      const auto start = static_cast<int64_t>(random() % 300);
      const auto duration = static_cast<int64_t>(random() % (seed % 2 == 0 ? 60 : 3));
      builder.Kernel("k", {.start = start, .duration = duration});
      builder.Host("cpu_op", "op", {.start = start, .duration = duration});
    }
    const ReadRanks ranks = RanksOf(std::move(builder).Finish());
    const Interval window = seed % 3 == 0 ? Interval{{50}, {150}} : kAllTime;
    for (const TimelineRow& row : ranks[0]->rows()) {
      size_t began = 0, wanted = 0;
      std::map<size_t, TimeNs> last;
      std::map<size_t, std::vector<TimeNs>> open;
      const auto at = [&](size_t track, TimeNs t) {
        EXPECT_LE(last.try_emplace(track, t).first->second, t);
        last[track] = t;
      };
      NestedTracks nested(
          [&](size_t track, const RowSlice& slice) {
            at(track, slice.when.start);
            for (const TimeNs end : open[track]) EXPECT_GE(end, slice.when.end);
            open[track].push_back(slice.when.end);
            ++began;
          },
          [&](size_t track, const RowSlice& slice) {
            at(track, slice.when.end);
            ASSERT_FALSE(open[track].empty());
            EXPECT_EQ(open[track].back(), slice.when.end);
            open[track].pop_back();
          });
      ForEachSliceOf(row, window, [&](const RowSlice& slice) { nested.Add(slice); });
      nested.CloseAll();
      for (const auto& [track, ends] : open) EXPECT_TRUE(ends.empty());
      for (const Lane& lane : row.lanes) wanted += lane.In(window).last - lane.In(window).first;
      EXPECT_EQ(began, wanted);
    }
  }
}

TEST(NestedTracks, OneTrackWhereAllNest) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 10; ++i)
    builder.Host("cpu_op", "op", {.start = i, .duration = 100 - 2 * i});
  builder.Host("cpu_op", "next", {.start = 100, .duration = 0});
  builder.Host("cpu_op", "next", {.start = 100, .duration = 10});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  std::set<size_t> tracks;
  NestedTracks nested([&](size_t track, const RowSlice&) { tracks.insert(track); },
                      [](size_t, const RowSlice&) {});
  for (const TimelineRow& row : ranks[0]->rows()) {
    if (row.kind == RowKind::kThread)
      ForEachSliceOf(row, kAllTime, [&](const RowSlice& slice) { nested.Add(slice); });
  }
  EXPECT_EQ(tracks, (std::set<size_t>{0}));
}

TEST(Perfetto, IsKnownAgainAndAlwaysTheSame) {
  TraceBuilder builder;
  builder.Kernel("k", {.start = -50, .duration = 5, .correlation = 1, .args = {{"n", "1"}}});
  builder.Host("cuda_runtime", "cudaLaunchKernel", {.start = -80, .duration = 5, .correlation = 1});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  TextSink once, again, full;
  EXPECT_TRUE(WritePerfetto(WholeRanks(ranks), once));
  EXPECT_TRUE(WritePerfetto(WholeRanks(ranks), again));
  EXPECT_EQ(once.text, again.text);
  EXPECT_TRUE(IsPerfettoExport(once.text));
  EXPECT_FALSE(IsPerfettoExport("\x0a\x05 any"));
  full.most = 100;
  EXPECT_FALSE(WritePerfetto(WholeRanks(ranks), full));
}

TEST(Perfetto, TimesAtTheEndsOfTheRange) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  TraceBuilder builder;
  builder.Kernel("a", {.start = -kFar, .duration = 5});
  builder.Kernel("b", {.start = kFar, .duration = kFar});
  builder.Host("cpu_op", "c", {.start = -kFar, .duration = kFar});
  builder.header().base_time_ns = std::numeric_limits<int64_t>::max();
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  TextSink out;
  EXPECT_TRUE(WritePerfetto(WholeRanks(ranks), out));
}

}  // namespace
}  // namespace tacho
