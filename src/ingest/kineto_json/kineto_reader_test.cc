#include "ingest/kineto_json/kineto_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "ingest/kineto_json/event_template.h"
#include "model/trace_builder.h"
#include "support/event_dump.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

struct ReadBack {
  std::vector<std::string> lines;
  TraceHeader header;
  Notes notes;
  std::string error;
};

ReadBack Read(std::string_view json, size_t block_size = 1 << 20, bool fast = true) {
  ReadBack result;
  EventDump dump;
  const auto stream = StreamOfMemory(json, block_size);
  const auto read = ReadKinetoJson(*stream, dump, {.fast_path = fast});
  if (!read) result.error = read.error().message;
  result.lines = dump.lines();
  result.header = dump.header();
  result.notes = dump.notes();
  return result;
}

std::vector<std::string> NoteIds(const Notes& notes) {
  std::vector<std::string> ids;
  for (const Note& note : notes.list()) {
    ids.push_back(std::string(KindOf(note.id).id) + " " + std::to_string(note.count));
  }
  return ids;
}

// Three kernels of one shape, a host call with its flow, an instant, metadata: as Kineto writes
// them.
std::string SmallTrace() {
  std::string events;
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    events += R"(  {
    "ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
    "ts": )" + std::to_string(100 + 10 * i) +
              R"(.250, "dur": 5.125,
    "args": {
      "External id": )" +
              n + R"(, "device": 0, "stream": 7, "correlation": )" + std::to_string(500 + i) + R"(,
      "grid": [1, 2, 3]
    }
  },
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9,
    "ts": )" + std::to_string(90 + 10 * i) +
              R"(.000, "dur": 2.000,
    "args": { "correlation": )" +
              std::to_string(500 + i) + R"( }
  },
  {
    "ph": "s", "id": )" +
              std::to_string(500 + i) + R"(, "pid": 9, "tid": 9, "ts": )" +
              std::to_string(90 + 10 * i) + R"(.000,
    "cat": "ac2g", "name": "ac2g"
  },
)";
  }
  return R"({
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "GPU \u0041", "totalGlobalMem": 80, "numSms": 132}],
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "nccl_version": "2.27"},
  "record_shapes": 1, "cuda_runtime_version": 12090,
  "traceEvents": [
)" + events +
         R"(  {"name": "process_name", "ph": "M", "ts": 1.000, "pid": 9, "tid": 0, "args": {"name": "python"}},
  {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 200.000}
  ], "baseTimeNanoseconds": 1790857026000000000, "traceName": "x.json"
})";
}

TEST(ReadKinetoJson, ReadsEventsHeaderAndTrailer) {
  const ReadBack read = Read(SmallTrace());
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.lines.size(), 11u);
  EXPECT_EQ(read.lines[3],
            "X cat=\"kernel\" name=\"gemm\" pid=\"0\" tid=\"7\" ts=110250 dur=5125 device=\"0\" "
            "stream=\"7\" "
            "correlation=501 external=1 args=\"{\\x0a      \"External id\": 1, \"device\": 0, "
            "\"stream\": 7, "
            "\"correlation\": 501,\\x0a      \"grid\": [1, 2, 3]\\x0a    }\"");
  EXPECT_EQ(read.lines[5],
            "s cat=\"ac2g\" name=\"ac2g\" pid=\"9\" tid=\"9\" ts=100000 dur=0 id=501");
  EXPECT_EQ(read.lines[9],
            "M name=\"process_name\" pid=\"9\" tid=\"0\" ts=1000 dur=0 process=\"python\"");
  EXPECT_EQ(read.header.rank, 3);
  EXPECT_EQ(read.header.world_size, 8);
  EXPECT_EQ(read.header.base_time_ns, 1790857026000000000);
  EXPECT_EQ(read.header.cuda_runtime_version, "12.9");
  ASSERT_EQ(read.header.devices.size(), 1u);
  EXPECT_EQ(read.header.devices[0].name, "GPU A");
  EXPECT_TRUE(read.header.record_shapes);
  EXPECT_THAT(NoteIds(read.notes), ElementsAre());
}

TEST(ReadKinetoJson, CountsEventsByTheirLettersKnownOrNot) {
  EventDump dump;
  const auto stream =
      StreamOfMemory(R"([{"ph":"X"},{"ph":"Q"},{"ph":"XX"},{"ph":"X"},{"ph":"b"},{"ts":1}])");
  ASSERT_TRUE(ReadKinetoJson(*stream, dump));
  EXPECT_THAT(dump.basics().counts.by_label,
              ElementsAre(Pair("?", 2), Pair("Q", 1), Pair("X", 2), Pair("b", 1)));
}

TEST(ReadKinetoJson, BothPathsAndEveryBlockSizeGiveTheSame) {
  const std::string json = SmallTrace();
  const ReadBack whole = Read(json);
  EXPECT_EQ(Read(json, 1 << 20, false).lines, whole.lines);
  for (size_t block = 1; block < 200; ++block) {
    EXPECT_EQ(Read(json, block).lines, whole.lines) << block;
  }
}

TEST(ReadKinetoJson, EveryPrefixGivesTheKeyOfTheEventsAndANote) {
  const std::string json = SmallTrace();
  const ReadBack whole = Read(json);
  for (size_t n = 1; n + 1 < json.size(); ++n) {
    const ReadBack cut = Read(json.substr(0, n));
    ASSERT_LE(cut.lines.size(), whole.lines.size());
    for (size_t i = 0; i < cut.lines.size(); ++i) ASSERT_EQ(cut.lines[i], whole.lines[i]) << n;
    EXPECT_EQ(cut.notes.CountOf(NoteId::kTruncatedJson), 1u) << n;
    EXPECT_EQ(cut.notes.CountOf(NoteId::kDamagedEvent), 0u) << n;
  }
}

TEST(ReadKinetoJson, ATraceKeepsTheArgumentsByteForByte) {
  TraceBuilder builder;
  const std::string json = SmallTrace();
  const auto stream = StreamOfMemory(json, 1000);
  ASSERT_TRUE(ReadKinetoJson(*stream, builder));
  const Trace trace = std::move(builder).Finish();
  ASSERT_EQ(trace.gpu.size(), 3u);
  EXPECT_EQ(ArgsText(trace, GpuArgs(trace, 2)),
            "{\n      \"External id\": 2, \"device\": 0, \"stream\": 7, \"correlation\": 502,\n    "
            "  \"grid\": [1, 2, 3]\n    }");
  EXPECT_EQ(ArgInteger(trace, GpuArgs(trace, 2), "correlation"), 502);
  EXPECT_EQ(ArgText(trace, GpuArgs(trace, 2), "grid"), "[1, 2, 3]");
  EXPECT_EQ(trace.flows.size(), 0u);  // all repeat their slice
  EXPECT_EQ(trace.words.args_shapes().size(), 3u);
}

TEST(ReadKinetoJson, SkipsADamagedEventAndGoesOn) {
  const std::string json = R"({"traceEvents": [
    {"ph": "X", "name": "a", "ts": 1, "dur": 1},
    {"ph": "X", "name": "b", "ts": 2 "dur": 1, xx,
    {"ph": "X", "name": "c", "ts": 3, "dur": 1},
    {"ph": "X", "name": "d", : }
  ], "traceName": "t", "vllm_version": "0.32.0"})";
  for (const size_t block : {1u, 7u, 1000u}) {
    const ReadBack read = Read(json, block);
    ASSERT_EQ(read.lines.size(), 2u) << block << ": " << ::testing::PrintToString(read.lines);
    EXPECT_THAT(read.lines[1], HasSubstr("name=\"c\""));
    EXPECT_EQ(read.notes.CountOf(NoteId::kDamagedEvent), 2u);
    EXPECT_EQ(read.header.vllm_version, "0.32.0");
  }
}

TEST(ReadKinetoJson, UnescapedQuotesInANameAreRepairedByWhatFollowsNames) {
  const auto event = [](const std::string& name) {
    return R"({"ph": "X", "cat": "python_function", "name": ")" + name +
           R"(", "pid": 1, "tid": 1, "ts": 5, "dur": 1})";
  };
  const std::string json = "{\"traceEvents\": [" + event("plain") + ",\n" +
                           event(R"({"device": "cpu", "n": 1}(12): run)") + ",\n" +
                           event(R"(C:\dir\)") + ",\n" + event("last") + "]}";
  for (const size_t block : {3u, 50u, 1000u}) {
    const ReadBack read = Read(json, block);
    ASSERT_EQ(read.lines.size(), 4u) << block;
    EXPECT_THAT(read.lines[1], HasSubstr(R"(name="{"device": "cpu", "n": 1}(12): run")"));
    EXPECT_THAT(read.lines[2], HasSubstr(R"(name="C:\dir\")"));
    EXPECT_EQ(read.notes.CountOf(NoteId::kRepairedName), 2u);
  }
}

TEST(ReadKinetoJson, OddTimesAreConvertedOrNoted) {
  const ReadBack read = Read(R"([
    {"ph": "X", "name": "text", "ts": "12.5", "dur": "1"},
    {"ph": "X", "name": "exponent", "ts": 1.25e1, "dur": 1E0},
    {"ph": "X", "name": "negative", "ts": 1, "dur": -4},
    {"ph": "X", "name": "none", "ts": nan, "dur": 1},
    {"ph": "X", "name": "no duration", "ts": 1}
  ])");
  ASSERT_EQ(read.lines.size(), 5u);
  EXPECT_THAT(read.lines[0], HasSubstr("ts=12500 dur=1000"));
  EXPECT_THAT(read.lines[1], HasSubstr("ts=12500 dur=1000"));
  EXPECT_THAT(read.lines[2], HasSubstr("ts=1000 dur=0"));
  EXPECT_THAT(read.lines[3], ::testing::Not(HasSubstr("ts=")));
  EXPECT_THAT(NoteIds(read.notes), ElementsAre("odd-number 2", "bad-time 1", "negative-duration 1",
                                               "missing-duration 1"));
}

TEST(ReadKinetoJson, AnArgumentWithManyValuesGetsASlot) {
  std::string json = "[";
  for (int i = 0; i < 500; ++i) {
    json += R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":)" + std::to_string(i) +
            R"(,"dur":1,"args":{"mine":)" + std::to_string(i * 7) + R"(,"text":"v)" +
            std::to_string(i) + "\"}},\n";
  }
  json += "]";
  EXPECT_EQ(Read(json).lines, Read(json, 64, false).lines);
  TraceBuilder builder;
  const auto stream = StreamOfMemory(json);
  ASSERT_TRUE(ReadKinetoJson(*stream, builder));
  const Trace trace = std::move(builder).Finish();
  EXPECT_LT(trace.words.args_shapes().size(), 60u);
  EXPECT_EQ(ArgsText(trace, HostOpArgs(trace, 499)), R"({"mine":3493,"text":"v499"})");
  EXPECT_EQ(ArgsText(trace, HostOpArgs(trace, 3)), R"({"mine":21,"text":"v3"})");
}

TEST(ReadKinetoJson, AnEventSharesNothingWithTheOneBeforeIt) {
  // Arguments that repeat, that begin as the last one did, that need repair; times that are not
  // there, behind some that were.
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

TEST(ReadKinetoJson, MetadataOfGpuWorkKeepsItsOwnStream) {
  const ReadBack read = Read(R"([
{"ph":"M","cat":"kernel","name":"n","pid":1,"tid":7,"ts":1},
{"ph":"M","cat":"kernel","name":"n","pid":2,"tid":8,"ts":1}])");
  EXPECT_THAT(read.lines, ElementsAre(HasSubstr(R"(device="1" stream="7")"),
                                      HasSubstr(R"(device="2" stream="8")")));
}

TEST(ReadKinetoJson, KnowsTheRanksOfAMergedFile) {
  TraceBuilder builder;
  const auto stream = StreamOfMemory(
      R"([{"ph":"M","name":"process_name","pid":"[TP00-DP01] 123","tid":1,"args":{"name":"p"}},)"
      R"({"ph":"X","cat":"cpu_op","name":"op","pid":"[TP01]","tid":1,"ts":1,"dur":1}])");
  ASSERT_TRUE(ReadKinetoJson(*stream, builder));
  const Trace trace = std::move(builder).Finish();
  const std::vector<Process>& processes = trace.words.processes();
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(trace.Text(processes[0].rank), "[TP00-DP01] ");
  EXPECT_EQ(trace.Text(processes[0].name), "p");
  EXPECT_EQ(processes[1].rank, StringId::kEmpty);
}

TEST(ReadKinetoJson, BytesThatLookLikeASlotAreNone) {
  // In front of the pid's closing quote: what separates the parts of a shape in its key.
  const std::string pid("\0\3", 2);
  static_assert(static_cast<int>(kineto::SlotKind::kPid) == 3);
  const auto event = [](const std::string& text) {
    return R"({"ph":"M","name":"process_name","pid":")" + text + R"(","tid":0,"args":{}})";
  };
  const ReadBack read = Read("[" + event(pid) + "," + event("71651") + "]");
  EXPECT_THAT(read.lines, ElementsAre(HasSubstr(R"(pid="\x00\x03")"), HasSubstr(R"(pid="71651")")));
}

TEST(ReadKinetoJson, OversizedEventsAreLeftOut) {
  const std::string json =
      R"([{"ph": "X", "name": "a", "ts": 1, "dur": 1}, {"ph": "X", "name": ")" +
      std::string(300000, 'y') +
      R"(", "ts": 1, "dur": 1}, {"ph": "X", "name": "c", "ts": 1, "dur": 1}])";
  EventDump dump;
  const auto stream = StreamOfMemory(json, 5000);
  ASSERT_TRUE(ReadKinetoJson(*stream, dump, {.largest_event_bytes = 100000}));
  EXPECT_EQ(dump.lines().size(), 2u);
  EXPECT_EQ(dump.notes().CountOf(NoteId::kOversizedEvent), 1u);
  EXPECT_EQ(Read(json, 5000).lines.size(), 3u);
}

TEST(ReadKinetoJson, RefusesWhatIsNoTrace) {
  EXPECT_THAT(Read("").error, HasSubstr("empty"));
  EXPECT_THAT(Read(" \n ").error, HasSubstr("white space"));
  EXPECT_THAT(Read("hello").error, HasSubstr("byte 0: expected"));
  EXPECT_EQ(Read("{}").error, "");
  EXPECT_EQ(Read("[]").error, "");
}

TEST(ReadKinetoJson, RefusesJsonOfAnotherKind) {
  const std::string many_numbers = [] {
    std::string list = "[[1";
    for (int i = 0; i < 100'000; ++i) list += ", 2";
    return list + "], [[0, 1]]]";
  }();
  for (const std::string& json :
       {std::string("[[1, 2], [[0, 5], [3, 5]]]"), many_numbers, std::string("[1, 2]"),
        std::string(R"(["ph", "ts"])"), std::string(R"([{"a": 1}, {"b": 2}])")}) {
    for (const size_t block_size : {size_t{3}, size_t{1} << 20}) {
      EXPECT_THAT(Read(json, block_size).error, HasSubstr("no trace: a list"))
          << json.substr(0, 40);
    }
  }
  EXPECT_THAT(Read(R"({"schema": "1.1", "nodes": [{"id": 1}], "pid": 5, "x": 1})").error,
              HasSubstr(R"(its first keys are "schema", "nodes", "pid")"));
  // A trace that is cut or damaged, or has no events, stays one.
  for (const char* json :
       {"[", "[{", R"([{"ph)", R"({"a": [1, 2)", R"({"schemaVersion": 1, "traceName": "x"})",
        R"({"a": 1, "traceEvents": []})", R"([ damage {"ph": "X", "ts": 1}])"}) {
    EXPECT_EQ(Read(json).error, "") << json;
  }
}

TEST(ReadKinetoJson, TakesTheDialects) {
  // Reordered and minified, as Python's json module writes it with sorted keys.
  const std::string sorted =
      R"({"traceEvents":[{"args":{"External id":5,"device":1,"stream":20},"cat":"kernel","dur":2.5,"name":"k","ph":"X","pid":1,"tid":20,"ts":10.5},)"
      R"({"args":{"External id":6,"device":1,"stream":20},"cat":"Kernel","dur":2,"name":"k","ph":"X","pid":1,"tid":20,"ts":11}]})";
  const ReadBack read = Read(sorted);
  ASSERT_EQ(read.lines.size(), 2u);
  EXPECT_THAT(read.lines[0], HasSubstr("ts=10500 dur=2500 device=\"1\" stream=\"20\" external=5"));
  EXPECT_THAT(read.lines[1], HasSubstr("cat=\"kernel\""));
  // CRLF, a byte order mark, padding, a tail.
  EXPECT_EQ(Read("\xef\xbb\xbf{\r\n\"traceEvents\": [\r\n{\"ph\": \"X\",\r\n\"name\": "
                 "\"a\"}\r\n]\r\n}\r\n")
                .lines.size(),
            1u);
  EXPECT_EQ(Read(std::string_view("{\"traceEvents\": []}\0\0\0", 22)).notes.list().size(), 0u);
  EXPECT_THAT(NoteIds(Read("{\"traceEvents\": []} tail").notes), ElementsAre("trailing-junk 1"));
  for (const char* second : {"\n{\"traceEvents\": []}", " [", "{"}) {
    EXPECT_THAT(NoteIds(Read("{\"traceEvents\": []}" + std::string(second)).notes),
                ElementsAre("second-document 1"));
  }
  // An open list is no defect; an event without a time is.
  EXPECT_THAT(NoteIds(Read("[{\"ph\": \"X\"},").notes),
              ElementsAre("bad-time 1", "missing-duration 1"));
}

TEST(ReadKinetoJson, BracesInsideADamagedEventAreNoEvents) {
  const auto event = [](const std::string& name) {
    return "  {\n    \"ph\": \"X\",\n    \"cat\": \"python_function\",\n    \"name\": \"" + name +
           "\",\n    \"pid\": 1,\n    \"tid\": 1,\n    \"ts\": 5.000,\n    \"dur\": 1.000\n  }";
  };
  for (const std::string name : {R"([{"name": "x"}](12): f)", R"([{"ph": "X", "ts": 1}])",
                                 R"({"name": "y"}, {"name": "z"})"}) {
    const std::string json = "{\"traceEvents\": [\n" + event("first") + ",\n" + event(name) +
                             ",\n" + event("last") + "\n  ],\"traceName\": \"t\"}";
    for (const size_t block : {1u, 64u, 100000u}) {
      const ReadBack read = Read(json, block);
      ASSERT_EQ(read.lines.size(), 3u) << name << " " << ::testing::PrintToString(read.lines);
      EXPECT_THAT(read.lines[1], HasSubstr(name));
      EXPECT_THAT(NoteIds(read.notes), ElementsAre("repaired-name 1"));
    }
  }
  const ReadBack inner = Read(
      R"({"traceEvents":[{"ph":"X","ts":1,"dur":1},{"ph":"X","ts":1 "dur":1, xx, "args":{"list":[{"name":"p","ts":5}]}},)"
      R"({"ph":"X","ts":2,"dur":1}]})");
  EXPECT_EQ(inner.lines.size(), 2u);
  EXPECT_THAT(NoteIds(inner.notes), ElementsAre("damaged-event 1"));
}

TEST(ReadKinetoJson, AStrayBracketDoesNotEndTheEvents) {
  const ReadBack read = Read(
      R"({"traceEvents": [{"ph":"X","ts":1,"dur":1}],{"ph":"X","ts":2,"dur":1}],"traceName":"t"})");
  EXPECT_EQ(read.lines.size(), 2u);
  EXPECT_THAT(NoteIds(read.notes), ElementsAre("damaged-event 1"));
}

TEST(ReadKinetoJson, WhatStandsBehindTheEndIsJunkNotTruncation) {
  for (const std::string last : {R"("traceName": "x")", R"("n": 1)"}) {
    const ReadBack read =
        Read(R"({"traceEvents": [{"ph":"X","ts":1,"dur":1}], )" + last + "} tail");
    EXPECT_EQ(read.lines.size(), 1u);
    EXPECT_THAT(NoteIds(read.notes), ElementsAre("trailing-junk 1"));
  }
  EXPECT_THAT(NoteIds(Read(std::string(R"({"traceEvents": [])") + std::string(9, '\0')).notes),
              ElementsAre("truncated-json 1"));
}

TEST(ReadKinetoJson, IdsThatAreNoSmallIntegersStillJoin) {
  for (const std::string id : {"18446744073709551001", "1234567890123456789", "\"5\""}) {
    TraceBuilder builder;
    const std::string json =
        R"([{"ph":"X","cat":"cuda_runtime","name":"l","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":)" +
        id +
        R"(}},{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3,"dur":1,"args":{"correlation":)" +
        id + "}}]";
    const auto stream = StreamOfMemory(json);
    ASSERT_TRUE(ReadKinetoJson(*stream, builder));
    const Trace trace = std::move(builder).Finish();
    EXPECT_GE(trace.gpu.correlation[0], 0);
    EXPECT_EQ(trace.gpu.correlation[0], trace.host_calls.correlation[0]);
    EXPECT_EQ(ArgsText(trace, GpuArgs(trace, 0)), "{\"correlation\":" + id + "}");
  }
}

TEST(ReadKinetoJson, ForgettingShapesChangesNothing) {
  // Names with quotes are repaired by what follows names here.
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

TEST(ReadKinetoJson, EmptyNamesAreReadLikeOthers) {
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

TEST(ReadKinetoJson, PointsKeepTheIdsAmongTheirArguments) {
  for (const std::string category : {"kernel", "cpu_op", "cuda_runtime"}) {
    const std::string args = R"({"correlation":5,"External id":6})";
    TraceBuilder builder;
    const std::string json =
        R"([{"ph":"i","cat":")" + category + R"(","name":"n","ts":1,"args":)" + args + "}]";
    const auto stream = StreamOfMemory(json);
    ASSERT_TRUE(ReadKinetoJson(*stream, builder));
    const Trace trace = std::move(builder).Finish();
    ASSERT_EQ(trace.points.size(), 1u);
    EXPECT_EQ(ArgsText(trace, {trace.points.args[0]}), args) << category;
  }
}

TEST(ReadKinetoJson, ASinkWithoutArgumentsIsToldTheSameIds) {
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

TEST(ReadKinetoJson, ManyUnclosedStringsTakeNoQuadraticTime) {
  std::string json = R"([{"ph":"X","ts":1,"dur":1})";
  for (int i = 0; i < 20000; ++i) json += R"(,{"cat":")";
  json += R"(,{"ph":"X","ts":2,"dur":1}])";
  EXPECT_GE(Read(json).lines.size(), 1u);  // seconds before strings were bounded
}

}  // namespace
}  // namespace tacho
