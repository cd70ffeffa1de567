#include "view/stack.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "base/random.h"
#include "model/nesting.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

// The tables of a trace, all with one colour.
std::vector<DrawnTable> TablesOf(const Trace& trace) {
  std::vector<DrawnTable> tables;
  const std::vector<uint8_t> colors(trace.words.strings.size(), 0);
  for (const SliceTable* table :
       {static_cast<const SliceTable*>(&trace.gpu), &trace.gpu_annotations, &trace.python_frames,
        &trace.annotations, static_cast<const SliceTable*>(&trace.host_ops),
        static_cast<const SliceTable*>(&trace.host_calls),
        static_cast<const SliceTable*>(&trace.others)}) {
    tables.push_back({table, &trace.words.strings, colors});
  }
  return tables;
}

// Checks that each lane is ordered by time and free of overlaps; returns the number of slices.
size_t CheckLanes(const std::vector<Lane>& lanes) {
  size_t slices = 0;
  for (const Lane& lane : lanes) {
    EXPECT_GT(lane.size(), 0u);
    for (size_t i = 1; i < lane.size(); ++i) {
      EXPECT_LE(PlaceEnd(lane.When(i - 1)), lane.When(i).start);
    }
    slices += lane.size();
  }
  return slices;
}

std::string NamesOf(const Lane& lane) {
  std::string names;
  for (size_t i = 0; i < lane.size(); ++i) {
    names += (i > 0 ? " " : "") + std::string(lane.NameText(i));
  }
  return names;
}

TEST(StackStream, WorkThatOverlapsGoesToFurtherLanes) {
  TraceBuilder builder;
  builder.Kernel("a", {.start = 0, .duration = 100});
  builder.Kernel("early", {.start = 90, .duration = 50});  // programmatic dependent launch
  builder.Kernel("third", {.start = 95, .duration = 10});
  builder.Kernel("b", {.start = 100, .duration = 20});
  builder.Kernel("nothing", {.start = 120, .duration = 0});
  builder.Kernel("c", {.start = 121, .duration = 5});
  const Trace trace = std::move(builder).Finish();
  const TrackIndex index(trace);
  const std::vector<DrawnTable> tables = TablesOf(trace);
  const std::vector<Lane> lanes = StackStream(index, StreamId{0}, tables);
  ASSERT_EQ(lanes.size(), 3u);
  EXPECT_EQ(NamesOf(lanes[0]), "a b nothing c");
  EXPECT_EQ(NamesOf(lanes[1]), "early");
  EXPECT_EQ(NamesOf(lanes[2]), "third");
}

TEST(StackStream, NothingIsLostHoweverMuchOverlaps) {
  for (const int64_t longest : {1, 50, 100'000}) {
    TraceBuilder builder;
    Random random(static_cast<uint64_t>(longest));
    constexpr size_t kKernels = 3000;
    for (size_t i = 0; i < kKernels; ++i) {
      builder.Kernel(
          "k", {.start = static_cast<int64_t>(random.Below(20'000)),
                .duration = static_cast<int64_t>(random.Below(static_cast<uint64_t>(longest)))});
    }
    const Trace trace = std::move(builder).Finish();
    const TrackIndex index(trace);
    const std::vector<DrawnTable> tables = TablesOf(trace);
    const std::vector<Lane> lanes = StackStream(index, StreamId{0}, tables);
    EXPECT_EQ(CheckLanes(lanes), kKernels);
    // The fewest possible lanes: as many as slices overlap at one instant.
    std::map<int64_t, int> changes;
    for (size_t row = 0; row < trace.gpu.size(); ++row) {
      ++changes[trace.gpu.start[row].ns];
      --changes[PlaceEnd(trace.gpu.When(row)).ns];
    }
    int now = 0, most = 0;
    for (const auto& [at, change] : changes) most = std::max(most, now += change);
    EXPECT_EQ(lanes.size(), static_cast<size_t>(most)) << longest;
  }
}

TEST(StackHostTracks, SlicesLieBelowTheOneAroundThem) {
  TraceBuilder builder;
  builder.Host("python_function", "frame", {.start = 0, .duration = 100});
  builder.Host("user_annotation", "step", {.start = 10, .duration = 80});
  builder.Host("cpu_op", "outer", {.start = 20, .duration = 40});
  builder.Host("cpu_op", "inner", {.start = 25, .duration = 10});
  builder.Host("cuda_runtime", "launch", {.start = 40, .duration = 5});
  builder.Host("cpu_op", "next", {.start = 60, .duration = 10});
  builder.Host("cpu_op", "elsewhere", {.tid = "2", .start = 0, .duration = 10});
  const Trace trace = std::move(builder).Finish();
  const TrackIndex index(trace);
  const std::vector<DrawnTable> tables = TablesOf(trace);
  const auto tracks = StackHostTracks(index, tables);
  ASSERT_EQ(tracks.size(), 2u);
  ASSERT_EQ(tracks[0].size(), 4u);
  EXPECT_EQ(NamesOf(tracks[0][0]), "frame");
  EXPECT_EQ(NamesOf(tracks[0][1]), "step");
  EXPECT_EQ(NamesOf(tracks[0][2]), "outer next");
  EXPECT_EQ(NamesOf(tracks[0][3]), "inner launch");
  ASSERT_EQ(tracks[1].size(), 1u);
  EXPECT_EQ(NamesOf(tracks[1][0]), "elsewhere");
}

// A slice that overlaps without nesting goes to a lower lane, and no slice is above its parent.
TEST(StackHostTracks, EverySliceOnceAndBelowItsParent) {
  TraceBuilder builder;
  Random random(5);
  constexpr size_t kSlices = 2000;
  for (size_t i = 0; i < kSlices; ++i) {
    builder.Host(i % 3 == 0   ? "cpu_op"
                 : i % 3 == 1 ? "user_annotation"
                              : "cuda_runtime",
                 "s",
                 {.tid = i % 2 == 0 ? "1" : "2",
                  .start = static_cast<int64_t>(random.Below(5000)),
                  .duration = static_cast<int64_t>(random.Below(200))});
  }
  const Trace trace = std::move(builder).Finish();
  const TrackIndex index(trace);
  const std::vector<DrawnTable> tables = TablesOf(trace);
  size_t slices = 0;
  std::map<std::pair<uint32_t, uint32_t>, int> lane_of;  // by table and row
  for (const std::vector<Lane>& lanes : StackHostTracks(index, tables)) {
    slices += CheckLanes(lanes);
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      for (size_t i = 0; i < lanes[lane].size(); ++i) {
        lane_of[{lanes[lane][i].table(), lanes[lane][i].row()}] = static_cast<int>(lane);
      }
    }
  }
  EXPECT_EQ(slices, kSlices);
  EXPECT_EQ(lane_of.size(), kSlices);
  const std::map<SliceKind, DrawnFrom> table_of{{SliceKind::kAnnotation, DrawnFrom::kAnnotations},
                                                {SliceKind::kHostOp, DrawnFrom::kHostOps},
                                                {SliceKind::kHostCall, DrawnFrom::kHostCalls}};
  WalkHostSlices(AllHostRows(index, true), -1, [&](const HostSlice& slice, int parent) {
    const int lane = lane_of.at({static_cast<uint32_t>(table_of.at(slice.kind)), slice.row});
    EXPECT_GT(lane, parent);
    return lane;
  });
}

}  // namespace
}  // namespace tacho
