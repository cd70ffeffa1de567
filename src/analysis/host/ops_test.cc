#include "analysis/host/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis/index/host_tree.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;

const OpRow& RowOf(const std::vector<OpRow>& rows, std::string_view name) {
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const OpRow& r) { return r.name == name; });
  EXPECT_NE(at, rows.end()) << name;
  static const OpRow none;
  return at == rows.end() ? none : *at;
}

OpTable Ops(const Trace& trace, const Scope& scope = {}) {
  const LaunchLinks links = LinkLaunches(trace);
  OpTable table = TabulateOps(TrackIndex(trace), links, scope);
  table.key_averages = AverageByKey(TrackIndex(trace), links, scope);
  return table;
}

// "name<parent" for each node, in order.
std::vector<std::string> Shape(const Trace& trace) {
  const HostTree tree = NestHostSlices(AllHostRows(TrackIndex(trace), false));
  std::vector<std::string> shape;
  for (const HostTree::Node& node : tree.nodes) {
    const auto parent = static_cast<size_t>(node.parent);
    shape.push_back(std::string(trace.Text(node.name)) + "<" +
                    (node.parent < 0 ? "" : std::string(trace.Text(tree.nodes[parent].name))));
  }
  return shape;
}

TEST(HostTree, OfEqualOperatorsTheSmallerExternalIdIsOuterInAnyOrder) {
  for (const bool swapped : {false, true}) {
    TraceBuilder b;
    for (const bool inner : {swapped, !swapped}) {
      b.Host("cpu_op", inner ? "inner" : "outer",
             {.start = 0, .duration = 10, .external_id = inner ? 8 : 7});
    }
    EXPECT_THAT(Shape(std::move(b).Finish()), ElementsAre("outer<", "inner<outer"));
  }
}

TEST(Ops, OfEqualExternalIdsTheFirstToStartThenTheNameWins) {
  for (const bool swapped : {false, true}) {
    TraceBuilder b;
    for (const bool second : {swapped, !swapped}) {
      b.Host("cpu_op", second ? "opB" : "opA",
             {.tid = second ? "2" : "1", .start = 0, .duration = 5, .external_id = 5});
    }
    b.Kernel("k", {.start = 10, .duration = 10, .external_id = 5});
    EXPECT_EQ(RowOf(Ops(std::move(b).Finish()).rows, "opA").device_self.ns, 10);
  }
}

TEST(Ops, CallsIntoEveryMakesRuntimeAreChildren) {
  for (const char* category : {"cuda_runtime", "cuda_driver", "mtia_runtime", "xpu_driver"}) {
    TraceBuilder b;
    b.Host("cpu_op", "aten::mm", {.start = 0, .duration = 100});
    b.Host(category, "launch", {.start = 10, .duration = 30});
    const OpTable table = Ops(std::move(b).Finish());
    EXPECT_EQ(RowOf(table.rows, "aten::mm").cpu_self.ns, 70) << category;
    EXPECT_EQ(RowOf(table.key_averages.rows, "aten::mm").cpu_self.ns, 70) << category;
  }
}

TEST(Ops, NestedCallsOfOneNameCountOnceInTheOutermostTotal) {
  TraceBuilder b;
  b.Host("cpu_op", "aten::copy_", {.start = 0, .duration = 100});
  b.Host("cpu_op", "aten::to", {.start = 10, .duration = 80});
  b.Host("cpu_op", "aten::copy_", {.start = 20, .duration = 60});
  b.Host("cpu_op", "aten::copy_", {.start = 100, .duration = 10});
  b.Host("cpu_op", "aten::copy_", {.tid = "2", .start = 30, .duration = 5});
  b.Host("cuda_runtime", "cudaMemcpyAsync", {.start = 30, .duration = 5, .correlation = 1});
  b.Memcpy("Memcpy", {.start = 200, .duration = 7, .correlation = 1});
  const OpTable table = Ops(std::move(b).Finish());
  const OpRow& row = RowOf(table.rows, "aten::copy_");
  EXPECT_EQ(row.cpu_total.ns, 175);
  EXPECT_EQ(row.cpu_outermost.ns, 115);
  EXPECT_EQ(row.device_total.ns, 14);
  EXPECT_EQ(row.device_outermost.ns, 7);
}

TEST(Ops, TrainingStepsAreNone) {
  TraceBuilder b;
  b.Host("cpu_op", "ProfilerStep#3", {.start = 0, .duration = 100});
  b.Host("cpu_op", "aten::mm", {.start = 10, .duration = 80});
  EXPECT_EQ(Ops(std::move(b).Finish()).rows.size(), 1u);
}

TEST(Ops, ExternalIdsOfMergedRanksStayApart) {
  TraceBuilder b;
  b.Host("cpu_op", "opA", {.start = 0, .duration = 5, .external_id = 5, .rank = "[TP00] "});
  b.Host("cpu_op", "opB", {.start = 0, .duration = 5, .external_id = 5, .rank = "[TP01] "});
  b.Kernel("k", {.start = 10, .duration = 10, .external_id = 5, .rank = "[TP01] "});
  EXPECT_EQ(RowOf(Ops(std::move(b).Finish()).rows, "opB").device_self.ns, 10);
}

TEST(HostTree, AnIntervalThatSticksOutIsNoChild) {
  TraceBuilder b;
  b.Host("cpu_op", "late", {.start = 80, .duration = 40});  // ends after a
  b.Host("cpu_op", "a", {.start = 0, .duration = 100});
  b.Host("cuda_runtime", "call", {.start = 10, .duration = 10});
  b.Host("user_annotation", "note", {.start = 0, .duration = 100});  // as long as a, and its parent
  b.Host("cpu_op", "empty", {.start = 20, .duration = 0});
  b.Host("cpu_op", "behind", {.start = 100, .duration = 0});  // half-open: not in a
  b.Host("cpu_op", "other", {.tid = "2", .start = 10, .duration = 5});
  b.Host("python_function", "frame", {.start = 0, .duration = 200});
  b.Kernel("kernel", {.start = 0, .duration = 200});
  const Trace trace = std::move(b).Finish();
  EXPECT_THAT(Shape(trace), ElementsAre("note<", "a<note", "call<a", "empty<a", "late<",
                                        "behind<late", "other<"));

  const HostTree tree = NestHostSlices(AllHostRows(TrackIndex(trace), false));
  ASSERT_EQ(tree.track_begin.size(), trace.words.tracks().size() + 1);
  EXPECT_EQ(tree.track_begin.back(), tree.nodes.size());
}

TEST(HostTree, NothingIsAChildOfAnEmptySlice) {
  TraceBuilder b;
  b.Host("cpu_op", "outer", {.start = 10, .duration = 0});
  b.Host("cpu_op", "inner", {.start = 10, .duration = 0});
  EXPECT_THAT(Shape(std::move(b).Finish()), ElementsAre("outer<", "inner<"));
}

TEST(Ops, SelfIsTotalWithoutDirectChildrenOfAnyKind) {
  TraceBuilder b;
  b.Host("cpu_op", "linear", {.start = 0, .duration = 100});
  b.Host("cpu_op", "addmm", {.start = 10, .duration = 60});
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 20, .duration = 10});
  b.Host("cpu_op", "addmm", {.start = 200, .duration = 50});
  const OpTable table = Ops(std::move(b).Finish());
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].name, "addmm");
  EXPECT_EQ(table.rows[0].count, 2u);
  EXPECT_EQ(table.rows[0].cpu_total, DurationNs{110});
  EXPECT_EQ(table.rows[0].cpu_self, DurationNs{100});
  EXPECT_EQ(table.rows[1].cpu_self, DurationNs{40});
  EXPECT_TRUE(table.by_shape.empty());
}

TEST(Ops, DeviceTimeGoesToTheInnermostOpAroundTheLaunch) {
  TraceBuilder b;
  b.Host("cpu_op", "linear", {.start = 0, .duration = 100, .external_id = 1});
  b.Host("user_annotation", "note", {.start = 5, .duration = 90});
  b.Host("cpu_op", "addmm", {.start = 10, .duration = 40, .external_id = 2});
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 20, .duration = 10, .correlation = 11});
  b.Host("cuda_runtime", "cudaGraphLaunch", {.start = 60, .duration = 10, .correlation = 12});
  b.Host("cuda_driver", "cuLaunchKernel", {.start = 500, .duration = 10, .correlation = 13});
  b.Kernel(
      "gemm",
      {.start = 300, .duration = 1000, .correlation = 11, .external_id = 1});  // the stack decides
  b.Kernel("node", {.start = 1300, .duration = 7, .correlation = 12});
  b.Kernel("node", {.start = 1400, .duration = 7, .correlation = 12});
  b.Kernel(
      "far",
      {.start = 1500, .duration = 20, .correlation = 99, .external_id = 2});  // launch not recorded
  b.Kernel(
      "near",
      {.start = 1600, .duration = 30, .correlation = 13, .external_id = 1});  // launched outside
  b.Kernel("lost", {.start = 1700, .duration = 5000, .correlation = 13});
  const OpTable table = Ops(std::move(b).Finish());
  const OpRow& addmm = RowOf(table.rows, "addmm");
  EXPECT_EQ(addmm.device_self, DurationNs{1020});
  EXPECT_EQ(addmm.device_total, DurationNs{1020});
  const OpRow& linear = RowOf(table.rows, "linear");
  EXPECT_EQ(linear.device_self, DurationNs{44});
  EXPECT_EQ(linear.device_total, DurationNs{1064});
  EXPECT_EQ(RowOf(table.key_averages.rows, "note").device_total, DurationNs{1020});
}

TEST(Ops, AreToldApartByInputShapes) {
  TraceBuilder b;
  b.Host("cpu_op", "mm",
         {.start = 0, .duration = 10, .args = {{"Input Dims", "[[2, 3], [3, 4]]"}}});
  b.Host("cpu_op", "mm",
         {.start = 20, .duration = 5, .args = {{"Input Dims", "[[8, 8], [8, 8]]"}}});
  b.Host("cpu_op", "mm",
         {.start = 30, .duration = 6, .args = {{"Input dims", "[[2, 3], [3, 4]]"}}});  // of 2021
  b.Host("cpu_op", "mm", {.start = 40, .duration = 1});
  const OpTable table = Ops(std::move(b).Finish());
  ASSERT_EQ(table.by_shape.size(), 3u);
  EXPECT_EQ(table.by_shape[0].shapes, "[[2,3],[3,4]]");
  EXPECT_EQ(table.by_shape[0].cpu_total, DurationNs{16});
  EXPECT_EQ(table.by_shape[2].shapes, "");
}

TEST(Ops, ShapesHaveTheWhiteSpaceOfNoFile) {
  TraceBuilder b;
  b.Host("cpu_op", "mm",
         {.start = 0, .duration = 10, .args = {{"Input Dims", "[\n    [888, 3072],\n  []\n]"}}});
  b.Host("cpu_op", "mm", {.start = 20, .duration = 5, .args = {{"Input Dims", "[\n]"}}});
  const OpTable table = Ops(std::move(b).Finish());
  ASSERT_EQ(table.by_shape.size(), 2u);
  EXPECT_EQ(table.by_shape[0].shapes, "[[888,3072],[]]");
  ASSERT_EQ(table.key_averages.by_shape.size(), 2u);
  EXPECT_EQ(table.key_averages.by_shape[0].shapes, "[[888,3072],[]]");
  EXPECT_EQ(table.key_averages.by_shape[1].shapes, "") << "no arguments";
}

TEST(KeyAverages, MergeOnlyChildrenOfTheSameName) {
  TraceBuilder b;
  b.Host("user_annotation", "same", {.start = 0, .duration = 100});
  b.Host("user_annotation", "same", {.start = 10, .duration = 80});
  b.Host("cpu_op", "same", {.start = 20, .duration = 60});
  b.Host("cpu_op", "sigmoid", {.start = 30, .duration = 10});
  b.Host("user_annotation", "twice", {.start = 200, .duration = 100});
  b.Host("user_annotation", "twice", {.start = 210, .duration = 30});
  b.Host("user_annotation", "twice", {.start = 250, .duration = 30});
  const OpTable table = Ops(std::move(b).Finish());
  ASSERT_EQ(table.key_averages.rows.size(), 3u);
  const OpRow& same = RowOf(table.key_averages.rows, "same");
  EXPECT_EQ(same.count, 1u);
  EXPECT_EQ(same.cpu_total, DurationNs{100});
  EXPECT_EQ(same.cpu_self, DurationNs{90});
  const OpRow& twice = RowOf(table.key_averages.rows, "twice");
  EXPECT_EQ(twice.count, 3u);
  EXPECT_EQ(twice.cpu_total, DurationNs{160});
  EXPECT_EQ(twice.cpu_self, DurationNs{100});
}

TEST(KeyAverages, ByShapeAListOfTensorsHasNoShape) {
  TraceBuilder b;
  const auto op = [&](int64_t start, const char* dims) {
    b.Host("cpu_op", "cat", {.start = start, .duration = 5, .args = {{"Input Dims", dims}}});
  };
  op(0, "[[[2, 3], [2, 3]], []]");
  op(10, "[[[4, 3]], []]");
  op(20, "[[2, 3], []]");
  op(30, "[]");
  b.Host("cpu_op", "cat", {.start = 40, .duration = 5});
  const OpTable table = Ops(std::move(b).Finish());
  std::map<std::string, uint64_t> counts;
  for (const OpRow& row : table.key_averages.by_shape) counts[row.shapes] += row.count;
  EXPECT_EQ(counts, (std::map<std::string, uint64_t>{{"[[],[]]", 2}, {"[[2,3],[]]", 1}, {"", 2}}));
  EXPECT_EQ(table.key_averages.by_shape.size(), 3u);
  EXPECT_EQ(RowOf(table.key_averages.rows, "cat").count, 5u);
}

TEST(KeyAverages, DeviceTimeOfAMergedOpMovesUp) {
  TraceBuilder b;
  b.Host("user_annotation", "relu", {.start = 0, .duration = 100});
  b.Host("cpu_op", "relu", {.start = 10, .duration = 80});
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 20, .duration = 5, .correlation = 1});
  b.Kernel("k", {.start = 200, .duration = 9, .correlation = 1});
  const OpTable table = Ops(std::move(b).Finish());
  EXPECT_EQ(RowOf(table.key_averages.rows, "relu").device_self, DurationNs{9});
  EXPECT_EQ(RowOf(table.key_averages.rows, "relu").device_total, DurationNs{9});
  EXPECT_EQ(RowOf(table.key_averages.rows, "cudaLaunchKernel").cpu_self, DurationNs{5});
}

TEST(KeyAverages, WhatIsOpenAtTheStopEndsWithTheSliceAroundIt) {
  TraceBuilder b;
  const auto open = [&](const char* name, int64_t start) {
    b.Host("user_annotation", name,
           {.start = start, .duration = 900 - start, .args = {{"finished", "false"}}});
  };
  b.Host("Trace", "PyTorch Profiler (0)", {.pid = "Spans", .start = 0, .duration = 800});
  b.Host("user_annotation", "outer", {.start = 100, .duration = 100});
  b.Host("cpu_op", "aten::mm", {.start = 110, .duration = 20});
  open("in the operator", 120);
  open("behind it", 140);
  open("alone", 200);
  const OpTable table = Ops(std::move(b).Finish());
  const auto total = [&](const char* name) {
    return RowOf(table.key_averages.rows, name).cpu_total;
  };
  EXPECT_EQ(total("in the operator"), DurationNs{10});
  EXPECT_EQ(total("behind it"), DurationNs{60});
  EXPECT_EQ(total("alone"), DurationNs{600});
  EXPECT_EQ(RowOf(table.key_averages.rows, "outer").cpu_self, DurationNs{80});
}

TEST(KeyAverages, LeaveOutFoldAndKeepApartAsPyTorchDoes) {
  TraceBuilder b;
  b.Host("Trace", "PyTorch Profiler (0)", {.pid = "Spans", .start = 0, .duration = 1000});
  b.Host("user_annotation", "ProfilerStep#1", {.start = 0, .duration = 100});
  b.Host("user_annotation", "ProfilerStep#2", {.start = 100, .duration = 100});
  b.Host("cpu_op", "aten::is_leaf", {.start = 10, .duration = 50});  // left out: its child moves up
  b.Host("cpu_op", "aten::relu", {.start = 20, .duration = 10});
  b.Host("user_annotation", "aten::relu", {.start = 110, .duration = 10});  // has a row of its own
  b.Host("python_function", "forward", {.start = 110, .duration = 20});
  b.Host("user_annotation", "run_batch",
         {.start = 250, .duration = 2000, .args = {{"finished", "false"}}});
  b.Host("cpu_op", "aten::add", {.start = 160, .duration = 10});
  for (const int64_t at : {15, 200, 500, 1000, 1001, 5000}) b.Instant("[memory]", at);
  const Trace trace = std::move(b).Finish();
  const OpTable table = Ops(trace);

  const OpRow& steps = RowOf(table.key_averages.rows, "ProfilerStep*");
  EXPECT_EQ(steps.count, 2u);
  EXPECT_EQ(steps.cpu_self, DurationNs{200 - 10 - 20 - 10});
  EXPECT_EQ(RowOf(table.key_averages.rows, "forward").cpu_self, DurationNs{10});
  EXPECT_EQ(std::count_if(table.key_averages.rows.begin(), table.key_averages.rows.end(),
                          [](const OpRow& row) { return row.name == "aten::relu"; }),
            2);
  const OpRow& open =
      RowOf(table.key_averages.rows, "run_batch");  // ends with the profiler and contains nothing
  EXPECT_EQ(open.cpu_total, DurationNs{750});
  EXPECT_EQ(open.cpu_self, DurationNs{0});
  EXPECT_EQ(RowOf(table.key_averages.rows, "[memory]").count, 2u);  // 1001 and 5000
  EXPECT_EQ(table.key_averages.rows.size(), 7u);
  EXPECT_EQ(RowOf(table.rows, "aten::is_leaf").cpu_self,
            DurationNs{40});  // our own table leaves nothing out
}

// A random slice. The trace has nested, crossing and equal slices on a few tracks.
struct RandomSlice {
  std::string_view category;
  std::string name;
  std::string tid;
  int64_t start, duration;
};

std::vector<RandomSlice> RandomSlices(unsigned seed, size_t count) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int64_t>(random() % n); };
  static constexpr std::string_view kCategories[] = {"cpu_op", "user_annotation", "cuda_runtime",
                                                     "cuda_driver"};
  std::vector<RandomSlice> slices;
  for (size_t i = 0; i < count; ++i) {
    slices.push_back({kCategories[below(4)], "op" + std::to_string(below(5)),
                      std::to_string(below(3)), below(300),
                      below(10) == 0 ? below(300) : below(30)});
  }
  return slices;
}

Trace Build(const std::vector<RandomSlice>& slices) {
  TraceBuilder b;
  for (const RandomSlice& s : slices) {
    b.Host(s.category, s.name, {.tid = s.tid, .start = s.start, .duration = s.duration});
  }
  return std::move(b).Finish();
}

TEST(OpsProperty, SelfTimesOfATrackAddUpToItsRoots) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Trace trace = Build(RandomSlices(seed, 200));
    const HostTree tree = NestHostSlices(AllHostRows(TrackIndex(trace), false));
    std::vector<int64_t> self(tree.nodes.size());
    std::map<uint32_t, int64_t> selfs, roots;
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      const HostTree::Node& node = tree.nodes[i];
      self[i] += node.when.length().ns;
      if (node.parent < 0) {
        roots[Index(node.track)] += node.when.length().ns;
        continue;
      }
      const auto parent = static_cast<size_t>(node.parent);
      ASSERT_LT(parent, i);
      ASSERT_EQ(tree.nodes[parent].track, node.track);
      ASSERT_LE(tree.nodes[parent].when.start, node.when.start);
      ASSERT_GE(tree.nodes[parent].when.end, node.when.end);
      self[parent] -= node.when.length().ns;
    }
    int64_t of_ops = 0;
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      selfs[Index(tree.nodes[i].track)] += self[i];
      if (tree.nodes[i].kind == SliceKind::kHostOp) of_ops += self[i];
    }
    EXPECT_EQ(selfs, roots) << seed;

    int64_t in_rows = 0;
    for (const OpRow& row : Ops(trace).rows) in_rows += row.cpu_self.ns;
    EXPECT_EQ(in_rows, of_ops) << seed;
  }
}

std::vector<std::string> Texts(const std::vector<OpRow>& rows) {
  std::vector<std::string> texts;
  for (const OpRow& row : rows) {
    texts.push_back(row.name + " " + std::to_string(row.count) + " " +
                    std::to_string(row.cpu_total.ns) + " " + std::to_string(row.cpu_self.ns));
  }
  return texts;
}

TEST(OpsProperty, TheOrderOfTheFileDoesNotMatter) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<RandomSlice> slices = RandomSlices(seed, 150);
    // Equal slices nest in the file's order, so here the order of the file matters.
    std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
      return std::tie(a.tid, a.start, a.duration) < std::tie(b.tid, b.start, b.duration);
    });
    slices.erase(std::unique(slices.begin(), slices.end(),
                             [](const auto& a, const auto& b) {
                               return a.tid == b.tid && a.start == b.start &&
                                      a.duration == b.duration;
                             }),
                 slices.end());
    const OpTable sorted = Ops(Build(slices));
    std::mt19937 random(seed);
    std::shuffle(slices.begin(), slices.end(), random);
    const OpTable shuffled = Ops(Build(slices));
    EXPECT_EQ(Texts(sorted.rows), Texts(shuffled.rows)) << seed;
    EXPECT_EQ(Texts(sorted.key_averages.rows), Texts(shuffled.key_averages.rows)) << seed;
  }
}

TEST(OpsProperty, WindowsThatTouchAddUp) {
  const Trace trace = Build(RandomSlices(3, 300));
  const OpTable all = Ops(trace);
  std::map<std::string, std::pair<uint64_t, int64_t>> whole, parts;
  for (const OpRow& row : all.rows) whole[row.name] = {row.count, row.cpu_self.ns};
  for (const Interval window :
       {Interval{{0}, {100}}, Interval{{100}, {101}}, Interval{{101}, {1000}}}) {
    for (const OpRow& row : Ops(trace, {.window = window, .device = ""}).rows) {
      parts[row.name].first += row.count;
      parts[row.name].second += row.cpu_self.ns;
    }
  }
  EXPECT_EQ(whole, parts);
}

}  // namespace
}  // namespace tacho
