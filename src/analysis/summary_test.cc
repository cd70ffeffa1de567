#include "analysis/summary.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

struct Slice {
  std::string_view category, name, device;
  int64_t start, duration;
};

Event EventOf(SummarySink& sink, const Slice& slice) {
  Vocabulary& words = sink.vocabulary();
  Event event;
  event.category = words.InternCategory(slice.category);
  event.has_category = event.has_start = true;
  event.kind = words[event.category].kind;
  event.name = words.strings.Intern(slice.name);
  event.track = words.InternTrack(words.InternProcess(words.strings.Intern(slice.device)),
                                  words.strings.Intern("7"));
  event.stream = words.InternStream(words.strings.Intern(slice.device), words.strings.Intern("7"));
  event.start = {slice.start};
  event.duration = {slice.duration};
  return event;
}

TEST(Summary, AddsUpAndForgets) {
  SummarySink sink;
  EXPECT_FALSE(sink.wants_args());
  for (const Slice& slice :
       {Slice{"kernel", "gemm", "0", 100, 10}, Slice{"kernel", "gemm", "0", 50, 30},
        Slice{"gpu_memcpy", "Memcpy HtoD", "1", 70, 5}, Slice{"cpu_op", "aten::mm", "9", 0, 40},
        Slice{"cpu_op", "aten::mm", "9", 200, 2}, Slice{"python_function", "f", "9", -5, 1}}) {
    sink.OnEvent(EventOf(sink, slice));
  }
  Event without_time = EventOf(sink, {"kernel", "gemm", "0", 0, 0});
  without_time.has_start = false;
  sink.OnEvent(without_time);
  Event flow;
  flow.type = EventType::kFlowStart;
  flow.has_start = true;
  flow.start = {-1000};
  sink.OnEvent(flow);

  const EventCounts& counts = sink.basics().counts;
  EXPECT_EQ(counts.total, 8u);
  EXPECT_EQ(counts.complete_by_category[Index(sink.vocabulary().InternCategory("kernel"))], 3u);
  EXPECT_EQ(sink.span(), (Interval{{-5}, {202}}));

  const StringPool& strings = sink.vocabulary().strings;
  const SummarySink::NameTotal& gemm = sink.gpu().at(strings.Find("gemm"));
  EXPECT_EQ(gemm.count, 2u);
  EXPECT_EQ(gemm.total, DurationNs{40});
  EXPECT_EQ(gemm.min, DurationNs{10});
  EXPECT_EQ(gemm.max, DurationNs{30});
  EXPECT_EQ(sink.gpu().size(), 2u);
  EXPECT_EQ(sink.host_ops().at(strings.Find("aten::mm")).total, DurationNs{42});
  ASSERT_EQ(sink.devices().size(), 2u);
  const SummarySink::DeviceTotal& device = sink.devices().at(strings.Find("0"));
  EXPECT_EQ(device.gpu_events, 2u);
  EXPECT_EQ(device.sum, DurationNs{40});
  EXPECT_EQ(device.window, (Interval{{50}, {110}}));
}

TEST(Summary, CountsBeginAndEndAsTheModelDoes) {
  SummarySink sink;
  const auto mark = [&](EventType type, int64_t at) {
    Event event = EventOf(sink, {"cpu_op", "aten::mm", "9", at, 0});
    event.type = type;
    sink.OnEvent(event);
  };
  mark(EventType::kSliceBegin, 10);
  mark(EventType::kSliceBegin, 20);
  mark(EventType::kSliceEnd, 30);
  mark(EventType::kSliceEnd, 50);
  mark(EventType::kSliceBegin, 60);
  mark(EventType::kRangeBegin, 65);
  mark(EventType::kRangeBegin, 70);
  mark(EventType::kRangeEnd, 80);
  sink.Finish();
  EXPECT_EQ(sink.host_ops().at(sink.vocabulary().strings.Find("aten::mm")).total, DurationNs{50});
  EXPECT_EQ(sink.span(), (Interval{{10}, {50}}));
  EXPECT_EQ(sink.notes().CountOf(NoteId::kUnmatchedBeginEnd), 1u);
  EXPECT_EQ(sink.notes().CountOf(NoteId::kUnfinishedSpan), 1u);
  EXPECT_EQ(sink.work().host_ops, 2u);
}

TEST(Summary, OfNothingIsEmpty) {
  SummarySink sink;
  EXPECT_EQ(sink.basics().counts.total, 0u);
  EXPECT_TRUE(sink.span().empty());
  EXPECT_TRUE(sink.devices().empty());
}

}  // namespace
}  // namespace tacho
