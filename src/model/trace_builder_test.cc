#include "model/trace_builder.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(TraceBuilder, PutsEachKindIntoItsTable) {
  TraceBuilder builder;
  builder.Kernel("gemm",
                 {.start = 100, .duration = 50, .correlation = 3, .args = {{"grid", "[1, 2, 3]"}}});
  builder.Memcpy("Memcpy HtoD", {.start = 90, .duration = 5, .args = {{"bytes", "1024"}}});
  builder.Host("cpu_op", "aten::mm", {.start = 10, .duration = 70, .external_id = 9});
  builder.Host("cuda_driver", "cuLaunchKernel", {.start = 20, .duration = 10, .correlation = 3});
  builder.Host("python_function", "main", {.start = 0, .duration = 5'000'000'000});
  const Trace trace = std::move(builder).Finish();

  EXPECT_EQ(trace.gpu.size(), 2u);
  EXPECT_EQ(trace.host_ops.size(), 1u);
  EXPECT_EQ(trace.host_calls.size(), 1u);
  EXPECT_EQ(trace.python_frames.duration[0], 5'000'000'000);
  EXPECT_EQ(trace.span, (Interval{TimeNs{0}, TimeNs{5'000'000'000}}));
  EXPECT_EQ(trace.counts.total, 5u);
  EXPECT_EQ(ArgsText(trace, GpuArgs(trace, 0)), R"({"grid": [1, 2, 3]})");
  EXPECT_EQ(ArgText(trace, GpuArgs(trace, 1), "bytes"), "1024");
  EXPECT_EQ(ArgText(trace, GpuArgs(trace, 1), "missing"), std::nullopt);
  EXPECT_EQ(XyzText(trace.words[trace.gpu.launch[0]].grid), "[1, 2, 3]");
}

TEST(TraceBuilder, ASliceWithoutCategoryIsOfNoOther) {
  TraceBuilder builder;
  Event event;
  event.has_start = true;
  builder.OnEvent(event);
  builder.Host("Trace", "PyTorch Profiler (0)", {.duration = 9});
  builder.OnEvent(event);
  const Trace trace = std::move(builder).Finish();
  ASSERT_EQ(trace.others.size(), 3u);
  EXPECT_EQ(trace.Text(trace.words[trace.others.category[0]].name), "");
  EXPECT_EQ(trace.Text(trace.words[trace.others.category[1]].name), "Trace");
  EXPECT_EQ(trace.Text(trace.words[trace.others.category[2]].name), "");
}

TEST(TraceBuilder, BeginAndEndMakeASliceByTrack) {
  TraceBuilder builder;
  Vocabulary& words = builder.vocabulary();
  const ProcessId process = words.InternProcess(words.strings.Intern("1"));
  const auto mark = [&](EventType type, std::string_view name, std::string_view tid, int64_t at) {
    Event event;
    event.type = type;
    event.has_start = true;
    event.name = words.strings.Intern(name);
    event.track = words.InternTrack(process, words.strings.Intern(tid));
    event.start = {at};
    builder.OnEvent(event);
  };
  mark(EventType::kSliceBegin, "outer", "1", 10);
  mark(EventType::kSliceBegin, "inner", "1", 20);
  mark(EventType::kSliceBegin, "other thread", "2", 25);
  mark(EventType::kSliceEnd, "", "1", 30);
  mark(EventType::kSliceEnd, "", "1", 40);
  mark(EventType::kSliceEnd, "", "1", 50);  // no begin
  const Trace trace = std::move(builder).Finish();
  ASSERT_EQ(trace.others.size(), 2u);
  EXPECT_EQ(trace.Text(trace.others.name[0]), "inner");
  EXPECT_EQ(trace.others.When(1), (Interval{TimeNs{10}, TimeNs{40}}));
  EXPECT_EQ(trace.notes.CountOf(NoteId::kUnmatchedBeginEnd), 2u);
}

TEST(TraceBuilder, RangesAreClosedByIdAndNameAndNeedNotNest) {
  TraceBuilder builder;
  Vocabulary& words = builder.vocabulary();
  const auto mark = [&](EventType type, std::string_view name, int64_t id, int64_t at,
                        std::string_view pid = "1") {
    Event event;
    event.type = type;
    event.has_start = at >= 0;
    event.name = words.strings.Intern(name);
    event.track = words.InternTrack(words.InternProcess(words.strings.Intern(pid)),
                                    words.strings.Intern(std::to_string(at)));
    event.id = id;
    event.start = {at};
    builder.OnEvent(event);
  };
  constexpr EventType kBegin = EventType::kRangeBegin, kEnd = EventType::kRangeEnd;
  mark(kBegin, "a", 1, 10);
  mark(kBegin, "b", 1, 20);
  mark(kBegin, "a", 2, 30);
  mark(kBegin, "a", 1, 40, "2");
  mark(kBegin, "a", 3, -1);
  mark(kEnd, "a", 1, 5'000'000'020);
  mark(kEnd, "", 1, 50);   // any name: b
  mark(kEnd, "a", 1, 60);  // that of process 2 stays open
  mark(kEnd, "a", 2, -1);  // no time: stays open
  mark(kEnd, "a", 3, 70);
  const Trace trace = std::move(builder).Finish();
  const RangeTable& ranges = trace.ranges;
  ASSERT_EQ(ranges.size(), 4u);
  EXPECT_EQ(ranges.duration[0], 5'000'000'010);
  EXPECT_EQ(ranges.duration[1], 30);
  EXPECT_EQ(ranges.duration[2], NarrowColumn::kNone);
  EXPECT_EQ(ranges.duration[3], NarrowColumn::kNone);
  EXPECT_EQ(trace.Text(ranges.name[1]), "b");
  EXPECT_EQ(trace.notes.CountOf(NoteId::kUnmatchedBeginEnd), 1u);
  EXPECT_EQ(trace.notes.CountOf(NoteId::kUnfinishedSpan), 1u);
  EXPECT_TRUE(trace.span.empty());
}

TEST(TraceBuilder, AWholeRangeNeedsNoEnd) {
  TraceBuilder builder;
  Event range;
  range.type = EventType::kRange;
  range.has_start = true;
  range.track = builder.vocabulary().InternTrack(
      builder.vocabulary().InternProcess(builder.vocabulary().strings.Intern("1")),
      builder.vocabulary().strings.Intern("2"));
  range.start = {-5};
  range.duration = {7};
  builder.OnEvent(range);
  const Trace trace = std::move(builder).Finish();
  ASSERT_EQ(trace.ranges.size(), 1u);
  EXPECT_EQ(trace.ranges.start[0], TimeNs{-5});
  EXPECT_EQ(trace.ranges.duration[0], 7);
  EXPECT_TRUE(trace.notes.list().empty());
}

TEST(TraceBuilder, FlowEndsThatRepeatTheirSliceAreOnlyCounted) {
  TraceBuilder builder;
  builder.Host("cuda_runtime", "cudaLaunchKernel", {.start = 20, .duration = 10, .correlation = 3});
  Event flow;
  flow.type = EventType::kFlowStart;
  flow.has_start = true;
  flow.id = 3;
  flow.start = {20};
  builder.OnEvent(flow);
  flow.start = {21};
  builder.OnEvent(flow);
  const Trace trace = std::move(builder).Finish();
  EXPECT_EQ(trace.counts.total, 3u);
  ASSERT_EQ(trace.flows.size(), 1u);
  EXPECT_EQ(trace.flows.at[0], TimeNs{21});
}

// Once, kernels after hundreds of made-up categories went to no table.
TEST(TraceBuilder, KnownCategoriesAreKnownBehindAnyNumberOfOthers) {
  TraceBuilder builder;
  for (int i = 0; i < 1000; ++i) builder.Host("c" + std::to_string(i), "x", {.start = i});
  builder.Kernel("k", {.start = 5000, .duration = 10});
  builder.Host("Trace", "window", {.start = 0, .duration = 9000});
  const Trace trace = std::move(builder).Finish();
  EXPECT_EQ(trace.gpu.size(), 1u);
  EXPECT_EQ(trace.span.end, TimeNs{5010});
  EXPECT_EQ(trace.notes.CountOf(NoteId::kManyCategories), 1u);
  EXPECT_EQ(trace.words.categories().size(), Vocabulary::kMostOtherCategories + 3);
  uint64_t all = 0;
  for (const uint64_t count : trace.counts.complete_by_category) all += count;
  EXPECT_EQ(all, 1002u);
}

TEST(TraceBuilder, DevicesOfMergedRanksAreApart) {
  TraceBuilder builder;
  builder.Kernel("k", {.device = "0", .rank = "[TP00] "});
  builder.Kernel("k", {.device = "0", .rank = "[TP08] "});
  builder.Kernel("k",
                 {.device = "[TP08] 0", .pid = "0", .rank = "[TP08] "});  // named after the process
  builder.Kernel("k", {.device = "0"});
  const Trace trace = std::move(builder).Finish();
  std::vector<std::string_view> devices;
  for (size_t row = 0; row < 4; ++row) {
    devices.push_back(trace.Text(trace.words[trace.gpu.stream[row]].device));
  }
  EXPECT_EQ(devices, (std::vector<std::string_view>{"[TP00] 0", "[TP08] 0", "[TP08] 0", "0"}));
  const std::vector<Process>& processes = trace.words.processes();
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(trace.Text(processes[1].id), "[TP08] 0");
  EXPECT_EQ(processes[1].number, std::nullopt);
  EXPECT_EQ(processes[2].number, 0);
}

TEST(TraceBuilder, WorkMayBeOfADeviceWithoutAStream) {
  TraceBuilder builder;
  builder.Memcpy("page migration", {.device = "1", .stream = ""});
  const Trace trace = std::move(builder).Finish();
  const Stream& stream = trace.words[trace.gpu.stream[0]];
  EXPECT_EQ(trace.Text(stream.device), "1");
  EXPECT_EQ(stream.stream, StringId::kEmpty);
}

TEST(Varint, ComesBack) {
  for (const int64_t v :
       {int64_t{0}, int64_t{-1}, int64_t{63}, int64_t{64}, int64_t{-65}, INT64_MAX, INT64_MIN}) {
    uint8_t bytes[kMaxVarint];
    uint8_t* const end = WriteVarint(bytes, v);
    int64_t back = 0;
    EXPECT_EQ(ReadVarint(bytes, back), end);
    EXPECT_EQ(back, v);
  }
}

TEST(TraceBuilder, ColumnsOfGraphsAndLaunchesCostNothingUntilARowHasThem) {
  TraceBuilder plain;
  for (int64_t i = 0; i < 100; ++i)
    plain.Kernel("k", {.start = i, .duration = 1, .args = {{"graph node id", "0"}}});
  const Trace without = std::move(plain).Finish();
  EXPECT_TRUE(without.gpu.graph.empty());
  EXPECT_EQ(without.gpu.graph.MemoryBytes() + without.gpu.graph_node.MemoryBytes() +
                without.gpu.launch.MemoryBytes(),
            0u);
  EXPECT_EQ(without.gpu.graph_node[7], 0);
  EXPECT_EQ(without.words[without.gpu.launch[7]], LaunchSizes());

  TraceBuilder builder;
  builder.Kernel("eager", {.start = 0, .duration = 1});
  builder.Kernel("node", {.start = 2,
                          .duration = 1,
                          .args = {{"graph id", "3"},
                                   {"graph node id", "12884901889"},
                                   {"grid", "[4, 2, 1]"},
                                   {"block", "[128, 1, 1]"},
                                   {"registers per thread", "32"},
                                   {"shared memory", "0"}}});
  builder.Kernel("later", {.start = 4, .duration = 1, .args = {{"graph id", "\"4\""}}});
  const Trace trace = std::move(builder).Finish();
  const GpuTable& gpu = trace.gpu;
  EXPECT_EQ(gpu.graph[0], 0);
  EXPECT_EQ(gpu.graph[1], 3);
  EXPECT_EQ(gpu.graph[2], 4);
  EXPECT_EQ(gpu.graph_node[1], 12884901889);
  EXPECT_EQ(gpu.graph_node[2], 0);
  EXPECT_EQ(gpu.launch[0], LaunchId::kNone);
  const LaunchSizes& sizes = trace.words[gpu.launch[1]];
  EXPECT_EQ(sizes.grid, (LaunchSizes::Xyz{4, 2, 1}));
  EXPECT_EQ(sizes.block, (LaunchSizes::Xyz{128, 1, 1}));
  EXPECT_EQ(sizes.registers, 32);
  EXPECT_EQ(sizes.shared_bytes, 0);
  EXPECT_EQ(sizes.static_shared_bytes, std::nullopt);
}

}  // namespace
}  // namespace tacho
