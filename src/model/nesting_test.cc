#include "model/nesting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/trace_builder.h"

namespace tacho {
namespace {

// How many slices enclose each slice of a host track, by row; 65,535 stands for that many or more.
struct NestingDepths {
  std::vector<uint16_t> python_frames, annotations, host_ops, host_calls;
};
// Nests by the rule of WalkHostSlices, Python frames included. Cost: O(n); 2 bytes a row.
NestingDepths FindDepths(const TrackIndex& index) {
  NestingDepths depths;
  std::array<std::vector<uint16_t>*, static_cast<size_t>(SliceKind::kOther) + 1> of_kind{};
  of_kind[static_cast<size_t>(SliceKind::kPythonFrame)] = &depths.python_frames;
  of_kind[static_cast<size_t>(SliceKind::kAnnotation)] = &depths.annotations;
  of_kind[static_cast<size_t>(SliceKind::kHostOp)] = &depths.host_ops;
  of_kind[static_cast<size_t>(SliceKind::kHostCall)] = &depths.host_calls;
  ForEachNestingTable(index, true, [&](SliceKind kind, const LaneRows& rows) {
    of_kind[static_cast<size_t>(kind)]->resize(rows.table().size());
  });
  WalkHostSlices(
      AllHostRows(index, true), int32_t{-1}, [&](const HostSlice& slice, int32_t around) {
        const int32_t depth = std::min(around + 1, int32_t{UINT16_MAX});
        (*of_kind[static_cast<size_t>(slice.kind)])[slice.row] = static_cast<uint16_t>(depth);
        return depth;
      });
  return depths;
}

struct Flat {
  Interval when;
  size_t table;  // the outer ones first
  uint32_t row;
};

// The depth of each slice of one track, by a look at each pair. An earlier slice is around a later
// one unless the later one, or a slice between the two, starts at or ends after the end of the
// earlier.
std::vector<uint16_t> DepthsByPairs(const std::vector<Flat>& slices) {
  std::vector<uint16_t> depths(slices.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    for (size_t outer = 0; outer < i; ++outer) {
      bool open = true;
      for (size_t k = outer + 1; k <= i; ++k) {
        open = open && slices[k].when.start < slices[outer].when.end &&
               slices[k].when.end <= slices[outer].when.end;
      }
      if (open) ++depths[i];
    }
  }
  return depths;
}

TEST(Nesting, DepthsAreThoseOfALookAtEachPair) {
  constexpr std::string_view kCategories[] = {"python_function", "user_annotation", "cpu_op",
                                              "cuda_runtime"};
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder b;
    for (auto n = random() % 30; n > 0; --n) {
      b.Host(kCategories[random() % 4], "slice",
             {.tid = random() % 2 == 0 ? "1" : "2",
              .start = static_cast<int64_t>(random() % 20),
              .duration = static_cast<int64_t>(random() % 12)});
    }
    const Trace trace = std::move(b).Finish();
    const TrackIndex index(trace);
    const NestingDepths depths = FindDepths(index);
    const std::vector<uint16_t>* const found[] = {&depths.python_frames, &depths.annotations,
                                                  &depths.host_ops, &depths.host_calls};
    const SliceTable* const tables[] = {&trace.python_frames, &trace.annotations, &trace.host_ops,
                                        &trace.host_calls};
    size_t seen = 0;
    for (size_t track = 0; track < trace.words.tracks().size(); ++track) {
      std::vector<Flat> slices;
      for (size_t table = 0; table < 4; ++table) {
        for (uint32_t row = 0; row < tables[table]->size(); ++row) {
          if (Index(tables[table]->track[row]) != track) continue;
          slices.push_back({tables[table]->When(row), table, row});
        }
      }
      std::ranges::sort(slices, {}, [](const Flat& slice) {
        return std::tuple(slice.when.start, -slice.when.end.ns, slice.table, slice.row);
      });
      const std::vector<uint16_t> expected = DepthsByPairs(slices);
      for (size_t i = 0; i < slices.size(); ++i, ++seen) {
        EXPECT_EQ((*found[slices[i].table])[slices[i].row], expected[i]) << "seed " << seed;
      }
    }
    EXPECT_EQ(seen, trace.counts.total);
  }
}

TEST(Nesting, OfEqualIntervalsAFrameHoldsAnnotationsOperatorsAndCalls) {
  TraceBuilder b;
  for (const char* category : {"cuda_runtime", "cpu_op", "user_annotation", "python_function"}) {
    b.Host(category, "slice", {.start = 10, .duration = 5});
  }
  b.Host("cpu_op", "it overlaps all of them", {.start = 12, .duration = 9});
  const Trace trace = std::move(b).Finish();
  const NestingDepths depths = FindDepths(TrackIndex(trace));
  EXPECT_EQ(depths.python_frames, std::vector<uint16_t>{0});
  EXPECT_EQ(depths.annotations, std::vector<uint16_t>{1});
  EXPECT_EQ(depths.host_ops, (std::vector<uint16_t>{2, 0}));
  EXPECT_EQ(depths.host_calls, std::vector<uint16_t>{3});
}

}  // namespace
}  // namespace tacho
