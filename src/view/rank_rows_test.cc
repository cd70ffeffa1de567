#include "view/rank_rows.h"

#include <gtest/gtest.h>

#include <map>

#include "model/trace_builder.h"

namespace tacho {
namespace {

const Classifier& Rules() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

// A step on one GPU with two streams, one of them for communication, and two threads.
Trace OneStep() {
  TraceBuilder builder;
  builder.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
               {.pid = "5", .tid = "6", .start = 0, .duration = 100});
  builder.Host("cuda_runtime", "cudaLaunchKernel",
               {.pid = "5", .tid = "6", .start = 10, .duration = 5, .correlation = 1});
  builder.Host("cpu_op", "aten::mm", {.pid = "5", .tid = "7", .start = 10, .duration = 30});
  builder.Kernel("ncclDevKernel_AllReduce",
                 {.stream = "9", .start = 20, .duration = 10, .correlation = 2});
  builder.Kernel("ampere_sgemm", {.stream = "7", .start = 40, .duration = 40, .correlation = 1});
  builder.Kernel("ampere_sgemm", {.stream = "7", .start = 70, .duration = 30, .correlation = 3});
  return std::move(builder).Finish();
}

TEST(RankRows, ComputedRowsThenStreamsThenThreads) {
  const Trace trace = OneStep();
  const RankRows rank(Prepare(trace, Rules()), Rules());
  std::vector<std::string> rows;
  for (const TimelineRow& row : rank.rows()) {
    rows.push_back(row.owner + "|" + row.label + "|" + std::to_string(row.lanes.size()));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"|steps|1", "0|busy|1", "0|idle by cause|1",
                                            "0|communication|1", "0|stream 7|2", "0|stream 9|1",
                                            "5|6|2", "5|7|1"}));
  const Lane& idle = rank.rows()[2].lanes[0];
  ASSERT_EQ(idle.size(), 1u);
  EXPECT_EQ(idle.When(0), (Interval{{30}, {40}}));
  EXPECT_EQ(idle.NameText(0), "queued");
  EXPECT_EQ(rank.rows()[3].lanes[0].NameText(0), "exposed");
  EXPECT_EQ(rank.rows()[0].lanes[0].NameText(0), "decode 1 token");
}

// torch 2.15 may draw a stream's work on a lane that is named by an annotation.
TEST(RankRows, AStreamHasTheNamesOfItsLanes) {
  TraceBuilder builder;
  Vocabulary& words = builder.vocabulary();
  const auto add = [&](const char* lane, const char* name, const char* stream, int64_t start) {
    Event event;
    event.category = words.InternCategory("kernel");
    event.has_category = event.has_start = true;
    event.kind = SliceKind::kKernel;
    event.name = words.strings.Intern("gemm");
    event.track = words.InternTrack(words.InternProcess(words.strings.Intern("0")),
                                    words.strings.Intern(lane));
    words[event.track].name = words.strings.Intern(name);
    event.stream = words.InternStream(words.strings.Intern("0"), words.strings.Intern(stream));
    event.start = {start};
    event.duration = {10 - start / 100};
    builder.OnEvent(event);
  };
  add("7", "stream 7 ", "7", 0);
  add("101", "tp", "25", 100);
  add("102", "ep", "25", 200);
  add("7", "stream 7 ", "26", 300);
  const Trace trace = std::move(builder).Finish();
  const RankRows rank(Prepare(trace, Rules()), Rules());
  std::map<std::string, int> labels;
  for (const TimelineRow& row : rank.rows()) {
    if (row.kind == RowKind::kStream) ++labels[row.label];
  }
  EXPECT_EQ(labels, (std::map<std::string, int>{
                        {"stream 7", 1}, {"stream 25 (tp, ep)", 1}, {"stream 26", 1}}));
}

TEST(RankRows, WhatATraceCannotTellIsARowThatSaysSo) {
  TraceBuilder builder;
  builder.Host("cuda_runtime", "cudaLaunchKernel", {.start = 0, .duration = 1});
  const Trace trace = std::move(builder).Finish();
  const RankRows rank(Prepare(trace, Rules()), Rules());
  ASSERT_GE(rank.rows().size(), 3u);
  EXPECT_EQ(rank.rows()[0].lacks, "the trace names no step of the engine");
  EXPECT_EQ(
      rank.rows()[1].lacks,
      "no GPU work in this trace; for a GPU engine: check that CUPTI is usable and not taken by "
      "another profiler");
  EXPECT_TRUE(rank.rows()[1].lanes.empty());
}

TEST(RankRows, EverySliceOfTheTraceIsInOneLane) {
  const Trace trace = OneStep();
  const RankRows rank(Prepare(trace, Rules()), Rules());
  std::map<std::pair<uint32_t, uint32_t>, int> seen;  // by table and row
  for (const TimelineRow& row : rank.rows()) {
    for (const Lane& lane : row.lanes) {
      for (size_t i = 0; i < lane.size(); ++i) ++seen[{lane[i].table(), lane[i].row()}];
    }
  }
  for (const auto& [slice, times] : seen) EXPECT_EQ(times, 1);
  const auto of = [&](DrawnFrom table) {
    return std::ranges::count_if(
        seen, [&](const auto& slice) { return slice.first.first == static_cast<uint32_t>(table); });
  };
  EXPECT_EQ(of(DrawnFrom::kGpu), 3);
  EXPECT_EQ(of(DrawnFrom::kHostOps), 1);
  EXPECT_EQ(of(DrawnFrom::kHostCalls), 1);
  EXPECT_EQ(of(DrawnFrom::kAnnotations), 1);
}

}  // namespace
}  // namespace tacho
