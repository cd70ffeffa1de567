#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "ingest/kineto_json/event_template.h"
#include "ingest/kineto_json/read_back_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LearntShapes, BothPathsAndEveryBlockSizeGiveTheSame) {
  const std::string json = SmallTrace();
  const ReadBack whole = Read(json);
  EXPECT_EQ(Read(json, 1 << 20, false).lines, whole.lines);
  for (size_t block = 1; block < 200; ++block) {
    EXPECT_EQ(Read(json, block).lines, whole.lines) << block;
  }
}

TEST(LearntShapes, AnArgumentWithManyValuesGetsASlot) {
  std::string json = "[";
  for (int i = 0; i < 500; ++i) {
    json += R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":)" + std::to_string(i) +
            R"(,"dur":1,"args":{"mine":)" + std::to_string(i * 7) + R"(,"dims":[[)" +
            std::to_string(i) + R"(,2],[]],"text":"v)" + std::to_string(i) + "\"}},\n";
  }
  json += "]";
  EXPECT_EQ(Read(json).lines, Read(json, 64, false).lines);
  TraceBuilder builder;
  const auto stream = StreamOfMemory(json);
  ASSERT_TRUE(ReadKinetoJson(*stream, builder));
  const Trace trace = std::move(builder).Finish();
  EXPECT_LT(trace.words.args_shapes().size(), 60u);
  EXPECT_EQ(ArgsText(trace, HostOpArgs(trace, 499)),
            R"({"mine":3493,"dims":[[499,2],[]],"text":"v499"})");
  EXPECT_EQ(ArgsText(trace, HostOpArgs(trace, 3)), R"({"mine":21,"dims":[[3,2],[]],"text":"v3"})");
  for (const size_t row : {3u, 499u}) {
    EXPECT_EQ(ArgText(trace, HostOpArgs(trace, row), "dims"),
              "[[" + std::to_string(row) + ",2],[]]");
  }
}

TEST(LearntShapes, AnEventSharesNothingWithTheOneBeforeIt) {
  // Arguments that repeat, that begin as the last one did, that need repair; missing times, after
  // times that were there.
  const std::string_view addresses[] = {
      "1.5",    "1.5", "1.55",     "1.5",      R"("a")", R"("a")", R"("ab")",   "[1]",   "[1]",
      "[1, 2]", "{}",  R"("a"b")", R"("a"b")", R"("a")", "1",      R"("a", 2)", R"("a")"};
  std::string events;
  for (int round = 0; round < 3; ++round) {
    for (const std::string_view address : addresses) {
      for (const std::string_view times :
           {R"("ts": 7, "dur": 2, )", R"("ts": 7, )", R"("dur": 2, )", ""}) {
        events += std::string(events.empty() ? "" : ",") +
                  R"({"ph": "X", "cat": "gpu_memcpy", "name": "copy", "pid": 0, "tid": 7, )" +
                  std::string(times) + R"("args": {"Addr": )" + std::string(address) +
                  R"(, "bytes": 8}})";
      }
    }
  }
  const ReadBack fast = Read("[" + events + "]");
  const ReadBack slow = Read("[" + events + "]", 1 << 20, false);
  EXPECT_EQ(fast.lines, slow.lines);
  EXPECT_EQ(NoteIds(fast.notes), NoteIds(slow.notes));
  EXPECT_GT(fast.lines.size(), 3 * std::size(addresses));
}

TEST(LearntShapes, MetadataOfGpuWorkKeepsItsOwnStream) {
  const ReadBack read = Read(R"([
{"ph":"M","cat":"kernel","name":"n","pid":1,"tid":7,"ts":1},
{"ph":"M","cat":"kernel","name":"n","pid":2,"tid":8,"ts":1}])");
  EXPECT_THAT(read.lines, ElementsAre(HasSubstr(R"(device="1" stream="7")"),
                                      HasSubstr(R"(device="2" stream="8")")));
}

TEST(LearntShapes, BytesThatLookLikeASlotAreNone) {
  // The pid ends in the bytes that separate the parts of a shape in its key.
  const std::string pid("\0\3", 2);
  static_assert(static_cast<int>(kineto::SlotKind::kPid) == 3);
  const auto event = [](const std::string& text) {
    return R"({"ph":"M","name":"process_name","pid":")" + text + R"(","tid":0,"args":{}})";
  };
  const ReadBack read = Read("[" + event(pid) + "," + event("71651") + "]");
  // The first has a byte 0, so it is damaged.
  EXPECT_THAT(read.lines, ElementsAre(HasSubstr(R"(pid="71651")")));
}

TEST(LearntShapes, ForgettingShapesChangesNothing) {
  // A name with quotes is repaired by what follows the other names of this text.
  std::string json = "[";
  for (int i = 0; i < 50; ++i) {
    json += R"({"ph":"X","name":"n)" + std::to_string(i) + R"(","cat" : "c)" + std::to_string(i) +
            R"(","ts":1,"dur":1},)";
    json += R"({"ph":"X","name":"a "b", "c" d","cat" : "c","ts":1,"dur":1},)";
    json += "{\"ph\":\"X\",\"name\":\"\xff\",\"ts\":1,\"dur\":1},";
  }
  json += "]";
  EventDump dump;
  const auto stream = StreamOfMemory(json);
  ASSERT_TRUE(ReadKinetoJson(*stream, dump, {.learnt_bytes = 100}));
  const ReadBack kept = Read(json);
  EXPECT_EQ(dump.lines(), kept.lines);
  EXPECT_EQ(NoteIds(dump.notes()), NoteIds(kept.notes));
}

TEST(LearntShapes, EmptyNamesAreReadLikeOthers) {
  std::minstd_rand random(6);
  std::string json = "[";
  for (int i = 0; i < 3000; ++i) {
    const std::string name = random() % 3 == 0 ? "x" : "", ts = std::to_string(i);
    const std::array<std::string, 4> shapes = {
        R"({"ph":"X","name":")" + name + R"(","cat":"kernel","ts":)" + ts + R"(,"dur":1},)",
        R"({"ph":"X","ts":)" + ts + R"(,"name":")" + name + R"(","cat":"cpu_op","dur":1},)",
        R"({"ph":"B","ts":)" + ts + R"(,"name":")" + name + R"("},)",
        R"({"ph":"E","ts":)" + ts + "},"};
    json += shapes[random() % shapes.size()];
  }
  json.back() = ']';
  const ReadBack fast = Read(json);
  EXPECT_EQ(fast.lines.size(), 3000u);
  EXPECT_EQ(fast.lines, Read(json, 1 << 20, false).lines);
}

TEST(LearntShapes, ASinkWithoutArgumentsIsToldTheSameIds) {
  const std::string json =
      R"([{"ph":"X","cat":"kernel","ts":1,"dur":1,"args":{"correlation":"a","External id":5}},)"
      R"({"ph":"X","cat":"kernel","ts":2,"dur":1,"args":{"correlation":"b","External id":1.5}}])";
  const auto lines = [&](DumpArgs args) {
    EventDump dump(args);
    EXPECT_TRUE(ReadKinetoJson(*StreamOfMemory(json), dump));
    return dump.lines();
  };
  const std::vector<std::string> with = lines(DumpArgs::kNotTold);
  EXPECT_EQ(lines(DumpArgs::kNotWanted), with);
  EXPECT_EQ(with.size(), 2u);
}

}  // namespace
}  // namespace tacho
