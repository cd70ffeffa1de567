#include "analysis/device/copies.h"

#include <gtest/gtest.h>

#include <string>

#include "model/trace_builder.h"

namespace tacho {
namespace {

TEST(Copies, AddUpByKindLongestFirst) {
  TraceBuilder b;
  b.Memcpy("Memcpy HtoD (Pageable -> Device)",
           {.start = 0, .duration = 10, .args = {{"bytes", "100"}}});
  b.Memcpy("Memcpy HtoD (Pinned -> Device)",
           {.start = 20, .duration = 5, .args = {{"bytes", "\"50\""}}});
  b.Memcpy("Memcpy DtoD (Device -> Device)",
           {.start = 30, .duration = 100, .args = {{"bytes", "400"}}});
  b.Memcpy("Memcpy PtoP", {.start = 140, .duration = 1});
  b.Memcpy("CopyDeviceToHost", {.start = 150, .duration = 2, .args = {{"bytes", "1.5"}}});
  b.Memset("Memset (Device)", {.start = 160, .duration = 3, .args = {{"bytes", "8"}}});
  b.Memset("Memset (Unknown)", {.start = 170, .duration = 4});
  b.Kernel("gemm", {.start = 180, .duration = 1000});
  const CopyTable table = TabulateCopies(std::move(b).Finish());

  ASSERT_EQ(table.copies.size(), 4u);
  EXPECT_EQ(table.copies[0].kind, "DtoD");
  EXPECT_EQ(table.copies[0].gigabytes_per_second(), 4.0);
  EXPECT_EQ(table.copies[1].kind, "HtoD");
  EXPECT_EQ(table.copies[1].count, 2u);
  EXPECT_EQ(table.copies[1].total, DurationNs{15});
  EXPECT_EQ(table.copies[1].bytes, 150);
  EXPECT_EQ(table.copies[1].pageable, 1u);
  EXPECT_EQ(table.copies[2].kind, "CopyDeviceToHost");
  EXPECT_EQ(table.copies[2].bytes, std::nullopt);
  EXPECT_EQ(table.copies[3].kind, "PtoP");
  EXPECT_EQ(table.copies[3].gigabytes_per_second(), std::nullopt);
  EXPECT_EQ(table.memsets.count, 2u);
  EXPECT_EQ(table.memsets.total, DurationNs{7});
  EXPECT_EQ(table.memsets.bytes, 8);
}

TEST(Copies, ReadBytesThatTheReaderKeptApartFromTheText) {
  TraceBuilder b;
  Vocabulary& words = b.vocabulary();
  // {"kind": <text>, "bytes": <integer>, "correlation": <column>}
  ArgsShape shape;
  shape.AddSlot(words.strings.Intern("kind"), SlotHome::kText);
  shape.AddSlot(words.strings.Intern("bytes"), SlotHome::kInteger);
  shape.AddSlot(words.strings.Intern("correlation"), SlotHome::kCorrelation);
  const ArgsShapeId id = words.AddArgsShape(shape);
  for (const int64_t bytes : {int64_t{7}, int64_t{1'000'000'000'000}}) {
    Event event;
    event.category = words.InternCategory("gpu_memcpy");
    event.has_category = event.has_start = true;
    event.kind = SliceKind::kMemcpy;
    event.name = words.strings.Intern("Memcpy DtoH (Device -> Pinned)");
    event.track = words.InternTrack(words.InternProcess(words.strings.Intern("0")),
                                    words.strings.Intern("7"));
    event.stream = words.InternStream(words.strings.Intern("0"), words.strings.Intern("7"));
    event.duration = {10};
    event.args = id;
    const int64_t values[] = {static_cast<int64_t>(Index(words.strings.Intern("\"a\""))), bytes, 5};
    event.arg_values = values;
    b.OnEvent(event);
  }
  EXPECT_EQ(TabulateCopies(std::move(b).Finish()).copies.at(0).bytes, 1'000'000'000'007);
}

TEST(Copies, CountWhereTheyStartAndOnTheDeviceAskedFor) {
  TraceBuilder b;
  b.Memcpy("Memcpy HtoD (Pinned -> Device)", {.device = "0", .start = 0, .duration = 10});
  b.Memcpy("Memcpy HtoD (Pinned -> Device)", {.device = "0", .start = 50, .duration = 20});
  b.Memcpy("Memcpy HtoD (Pinned -> Device)", {.device = "1", .start = 60, .duration = 30});
  const Trace trace = std::move(b).Finish();
  Scope scope{.window = Interval{{0}, {51}}, .device = ""};
  EXPECT_EQ(TabulateCopies(trace, scope).copies.at(0).total, DurationNs{30});
  scope.window = Interval{{51}, {100}};
  EXPECT_EQ(TabulateCopies(trace, scope).copies.at(0).total, DurationNs{30});
  scope = {.window = {}, .device = "0"};
  EXPECT_EQ(TabulateCopies(trace, scope).copies.at(0).total, DurationNs{30});
  scope.device = "2";
  EXPECT_TRUE(TabulateCopies(trace, scope).copies.empty());
}

TEST(Copies, BytesThatNoCopyMovesAreNotTold) {
  TraceBuilder b;
  for (const char* bytes : {"9223372036854775807", "-5", "1024", "4096"}) {
    b.Memcpy("Memcpy HtoD", {.duration = 1, .args = {{"bytes", bytes}}});
  }
  const CopyTable table = TabulateCopies(std::move(b).Finish());
  EXPECT_EQ(table.copies.at(0).bytes, 5120);
}

TEST(Copies, OfAnyNumberOfKindsCostNoSquare) {
  TraceBuilder b;
  for (int i = 0; i < 50'000; ++i) {
    b.Memcpy("Memcpy k" + std::to_string(i) + " (a)", {.start = i, .duration = 1});
  }
  EXPECT_EQ(TabulateCopies(std::move(b).Finish()).copies.size(), 50'000u);
}

}  // namespace
}  // namespace tacho
