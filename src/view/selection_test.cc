#include "view/selection.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/random.h"
#include "model/nesting.h"
#include "model/trace_builder.h"
#include "view/rank_rows.h"

namespace tacho {
namespace {

// Randomly nested operators on one thread.
Trace RandomTree(uint64_t seed) {
  Random random(seed);
  TraceBuilder builder;
  const std::function<void(int64_t, int64_t, int)> fill = [&](int64_t begin, int64_t end,
                                                              int depth) {
    for (int64_t at = begin; depth < 5 && at < end;) {
      const int64_t start = at + static_cast<int64_t>(random.Below(6));
      const auto duration = static_cast<int64_t>(random.Below(static_cast<uint64_t>(end - begin)));
      if (start + duration > end) break;
      builder.Host("cpu_op", "op" + std::to_string(random.Below(4)),
                   {.start = start, .duration = duration});
      fill(start, start + duration, depth + 1);
      at = start + std::max<int64_t>(duration, 1);
    }
  };
  fill(0, 300, 0);
  return std::move(builder).Finish();
}

const TimelineRow& ThreadOf(const RankRows& rank) { return rank.rows().back(); }

const Classifier& KernelRules() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

std::vector<const Lane*> PointersTo(const std::vector<Lane>& lanes) {
  std::vector<const Lane*> pointers;
  for (const Lane& lane : lanes) pointers.push_back(&lane);
  return pointers;
}

TEST(TotalsByName, AreThoseOfTheSlices) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Trace trace = RandomTree(seed);
    const RankRows rank(Prepare(trace, KernelRules()), KernelRules());
    const std::vector<const Lane*> lanes = PointersTo(ThreadOf(rank).lanes);
    const Interval window{{40}, {170}};
    std::map<std::string_view, std::pair<uint64_t, int64_t>> slow;
    for (size_t row = 0; row < trace.host_ops.size(); ++row) {
      const Interval when = trace.host_ops.When(row);
      if (!window.contains(when.start) && when.Clip(window).empty()) continue;
      auto& [count, total] = slow[trace.Text(trace.host_ops.name[row])];
      ++count;
      total += when.Clip(window).length().ns;
    }
    std::map<std::string_view, std::pair<uint64_t, int64_t>> found;
    DurationNs before{std::numeric_limits<int64_t>::max()};
    for (const NameTotal& total : TotalsByName(lanes, window)) {
      found[total.name] = {total.count, total.total.ns};
      EXPECT_LE(total.total, before);
      before = total.total;
    }
    EXPECT_EQ(found, slow) << seed;
  }
}

// Compares with the tree that the model builds.
TEST(FlameGraph, IsTheTreeOfTheSlices) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Trace trace = RandomTree(seed);
    const RankRows rank(Prepare(trace, KernelRules()), KernelRules());
    const Interval whole{{-10}, {1000}};
    std::map<std::string, std::pair<uint64_t, int64_t>> slow;  // by path of names from the root
    WalkHostSlices(AllHostRows(TrackIndex(rank.trace()), true), std::string(),
                   [&](const HostSlice& slice, const std::string& around) {
                     std::string path =
                         around + "/" + std::string(trace.Text(trace.host_ops.name[slice.row]));
                     auto& [count, total] = slow[path];
                     ++count;
                     total += slice.when.length().ns;
                     return path;
                   });
    const std::vector<FlameNode> nodes = FlameGraph(ThreadOf(rank).lanes, whole, {0});
    std::vector<std::string> paths(nodes.size());
    std::map<std::string, std::pair<uint64_t, int64_t>> found;
    DurationNs self;
    for (size_t i = 1; i < nodes.size(); ++i) {
      EXPECT_LT(nodes[i].parent, i);
      paths[i] = paths[nodes[i].parent] + "/" + std::string(nodes[i].name);
      found[paths[i]] = {nodes[i].count, nodes[i].total.ns};
      self += nodes[i].self;
    }
    EXPECT_EQ(found, slow) << seed;
    EXPECT_EQ(self, nodes[0].total);
  }
}

TEST(FlameGraph, SmallNodesArePartOfTheirParent) {
  TraceBuilder builder;
  builder.Host("cpu_op", "outer", {.start = 0, .duration = 100});
  builder.Host("cpu_op", "small", {.start = 10, .duration = 5});
  builder.Host("cpu_op", "in small", {.start = 11, .duration = 2});
  builder.Host("cpu_op", "large", {.start = 20, .duration = 50});
  const Trace trace = std::move(builder).Finish();
  const RankRows rank(Prepare(trace, KernelRules()), KernelRules());
  const auto nodes = FlameGraph(ThreadOf(rank).lanes, {{0}, {100}}, {10});
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[1].name, "outer");
  EXPECT_EQ(nodes[1].self.ns, 50);
  EXPECT_EQ(nodes[2].name, "large");
  EXPECT_EQ(nodes[0].total.ns, 100);
}

// Overlapping children that do not nest each count in full.
TEST(FlameGraph, OfTooManySlicesThereIsNone) {
  const Trace trace = RandomTree(1);
  const RankRows rank(Prepare(trace, KernelRules()), KernelRules());
  const Interval whole{{-10}, {1000}};
  const size_t slices = trace.host_ops.size();
  EXPECT_FALSE(FlameGraph(ThreadOf(rank).lanes, whole, {0}, slices).empty());
  EXPECT_TRUE(FlameGraph(ThreadOf(rank).lanes, whole, {0}, slices - 1).empty());
}

TEST(FlameGraph, SelfTimeIsNeverNegative) {
  TraceBuilder builder;
  builder.Host("cpu_op", "outer", {.start = 0, .duration = 10});
  builder.Host("cpu_op", "a", {.start = 1, .duration = 8});
  builder.Host("cpu_op", "b", {.start = 2, .duration = 8});
  const Trace trace = std::move(builder).Finish();
  const RankRows rank(Prepare(trace, KernelRules()), KernelRules());
  const auto nodes = FlameGraph(ThreadOf(rank).lanes, {{0}, {100}}, {0});
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[1].total.ns, 10);
  EXPECT_EQ(nodes[1].self.ns, 0);
  EXPECT_EQ(nodes[3].parent, 1u);
}

TEST(FindNext, ReachesEverySliceInBothDirections) {
  TraceBuilder builder;
  for (const char* stream : {"7", "8", "9"}) {
    builder.Kernel("same", {.stream = stream, .start = 5, .duration = 2});
    builder.Kernel("same", {.stream = stream, .start = 9, .duration = 2});
  }
  const Trace trace = std::move(builder).Finish();
  const RankRows rank(Prepare(trace, KernelRules()), KernelRules());
  std::vector<const Lane*> lanes;
  for (const TimelineRow& row : rank.rows()) {
    if (row.kind == RowKind::kStream) lanes.push_back(&row.lanes.front());
  }
  for (const bool forward : {true, false}) {
    SearchPlace from{{forward ? 0 : 100}, 0};
    size_t found = 0;
    for (; const auto next = FindNext(lanes, "same", from, forward); ++found) {
      from = {lanes[next->lane]->When(next->place).start, next->lane};
    }
    EXPECT_EQ(found, 6u);
  }
}

TEST(Search, FindsNamesInUpperAndLowerCase) {
  TraceBuilder builder;
  builder.Kernel("Ampere_sgemm", {.start = 50, .duration = 10});
  builder.Kernel("ampere_SGEMM", {.start = 70, .duration = 10});
  builder.Kernel("ampere_SGEMM", {.stream = "9", .start = 10, .duration = 10});
  builder.Kernel("other", {.start = 90, .duration = 10});
  const Trace trace = std::move(builder).Finish();
  const RankRows rank(Prepare(trace, KernelRules()), KernelRules());
  std::vector<const Lane*> lanes;
  for (const TimelineRow& row : rank.rows()) {
    if (row.kind != RowKind::kStream) continue;
    for (const Lane& lane : row.lanes) lanes.push_back(&lane);
  }
  uint64_t total = 0;
  const std::vector<NameHits> hits = Search(lanes, "SgEmM", 10, total);
  EXPECT_EQ(total, 3u);
  ASSERT_EQ(hits.size(), 2u);
  EXPECT_EQ(hits[0].name, "ampere_SGEMM");
  EXPECT_EQ(hits[0].count, 2u);
  EXPECT_EQ(lanes[hits[0].lane]->When(hits[0].place).start.ns, 10);
  EXPECT_EQ(hits[1].name, "Ampere_sgemm");
  EXPECT_TRUE(Search(lanes, "", 10, total).empty());
  EXPECT_EQ(total, 0u);
  EXPECT_EQ(Search(lanes, "sgemm", 1, total).size(), 1u);

  const auto next = [&](int64_t from, bool forward) -> int64_t {
    const auto found = FindNext(lanes, "sgemm", {{from}, forward ? lanes.size() : 0}, forward);
    return found ? lanes[found->lane]->When(found->place).start.ns : -1;
  };
  EXPECT_EQ(next(0, true), 10);
  EXPECT_EQ(next(10, true), 50);
  EXPECT_EQ(next(50, true), 70);
  EXPECT_EQ(next(70, true), -1);
  EXPECT_EQ(next(100, false), 70);
  EXPECT_EQ(next(70, false), 50);
  EXPECT_EQ(next(50, false), 10);
  EXPECT_EQ(next(10, false), -1);
}

}  // namespace
}  // namespace tacho
