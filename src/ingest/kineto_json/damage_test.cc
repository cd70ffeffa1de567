#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "ingest/kineto_json/kineto_reader.h"
#include "ingest/kineto_json/read_back_for_test.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DamagedTrace, EveryPrefixGivesTheKeyOfTheEventsAndANote) {
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

TEST(DamagedTrace, SkipsADamagedEventAndGoesOn) {
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

TEST(DamagedTrace, UnescapedQuotesInANameAreRepairedByWhatFollowsNames) {
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

TEST(DamagedTrace, AHoleOfZerosGivesNoEventOfItsTwoEdges) {
  // Two names, at the edges of the hole, must not become one.
  std::string json = "{\"traceEvents\": [\n";
  for (int i = 0; i < 200; ++i) {
    json += R"({"ph": "X", "cat": "kernel", "name": "kernel_)" + std::to_string(i % 7) +
            R"(", "pid": 0, "tid": 7, "ts": )" + std::to_string(100 + i) +
            R"(, "dur": 1, "args": {"stream": 7, "text": "value_)" + std::to_string(i) + "\"}},\n";
  }
  const ReadBack whole = Read(json);
  for (size_t at = 3000; at < 3200; at += 3) {
    for (const size_t size : {1u, 100u, 4096u}) {
      std::string holed = json;
      std::fill_n(holed.begin() + static_cast<std::ptrdiff_t>(at), size, '\0');
      const ReadBack read = Read(holed, at % 3 == 0 ? 1000 : 100'000);
      for (const std::string& line : read.lines)
        ASSERT_THAT(whole.lines, ::testing::Contains(line)) << at << " " << size;
      EXPECT_LT(read.lines.size(), whole.lines.size());
      EXPECT_GT(read.notes.CountOf(NoteId::kDamagedEvent), 0u) << at << " " << size;
    }
  }
}

TEST(DamagedTrace, ZerosBetweenEventsAreAHoleIfTextFollows) {
  const std::string event = R"({"ph": "X", "name": "a", "ts": 1, "dur": 1})";
  const std::string zeros(50, '\0');
  // What stands right after a hole may be the rest of something.
  const ReadBack read = Read("[" + event + "," + zeros + event + "," + event + "]");
  EXPECT_EQ(read.lines.size(), 2u);
  EXPECT_THAT(NoteIds(read.notes), ElementsAre("damaged-event 1"));
  EXPECT_THAT(NoteIds(Read("[" + event + "]" + zeros).notes), ElementsAre());
}

TEST(DamagedTrace, OddTimesAreConvertedOrNoted) {
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

TEST(DamagedTrace, OversizedEventsAreLeftOut) {
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

TEST(DamagedTrace, RefusesWhatIsNoTrace) {
  EXPECT_THAT(Read("").error, HasSubstr("empty"));
  EXPECT_THAT(Read(" \n ").error, HasSubstr("white space"));
  EXPECT_THAT(Read("hello").error, HasSubstr("byte 0: expected"));
  EXPECT_EQ(Read("{}").error, "");
  EXPECT_EQ(Read("[]").error, "");
}

TEST(DamagedTrace, RefusesJsonOfAnotherKind) {
  const std::string many_numbers = [] {
    std::string list = "[[1";
    for (int i = 0; i < 100'000; ++i) list += ", 2";
    return list + "], [[0, 1]]]";
  }();
  for (const std::string& json :
       {std::string("[[1, 2], [[0, 5], [3, 5]]]"), many_numbers, std::string("[1, 2]"),
        std::string(R"(["ph", "ts"])"), std::string(R"([{"a": 1}, {"b": 2}])")}) {
    for (const size_t block_size : {size_t{3}, size_t{1} << 20}) {
      EXPECT_THAT(Read(json, block_size).error, HasSubstr("not a trace: a list"))
          << json.substr(0, 40);
    }
  }
  EXPECT_THAT(Read(R"({"schema": "1.1", "nodes": [{"id": 1}], "pid": 5, "x": 1})").error,
              HasSubstr(R"(its first keys are "schema", "nodes", "pid")"));
  EXPECT_EQ(Read(R"({"schema": 1, "tacho": {"version": "1"}, "command": "tacho record"})").error,
            "is the run.json of a recording: name its folder");
  EXPECT_THAT(Read(R"({"schema": 1, "tacho": {"version": "1"}, "comparable": true})").error,
              HasSubstr("tacho compare --json writes"));
  EXPECT_THAT(Read("<!doctype html>\n<!-- tacho report -->\n").error, HasSubstr("is HTML"));
  // A trace that is cut, damaged or without events is still a trace.
  for (const char* json :
       {"[", "[{", R"([{"ph)", R"({"a": [1, 2)", R"({"schemaVersion": 1, "traceName": "x"})",
        R"({"a": 1, "traceEvents": []})", R"([ damage {"ph": "X", "ts": 1}])"}) {
    EXPECT_EQ(Read(json).error, "") << json;
  }
}

TEST(DamagedTrace, BracesInsideADamagedEventAreNoEvents) {
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

TEST(DamagedTrace, AStrayBracketDoesNotEndTheEvents) {
  const ReadBack read = Read(
      R"({"traceEvents": [{"ph":"X","ts":1,"dur":1}],{"ph":"X","ts":2,"dur":1}],"traceName":"t"})");
  EXPECT_EQ(read.lines.size(), 2u);
  EXPECT_THAT(NoteIds(read.notes), ElementsAre("damaged-event 1"));
}

TEST(DamagedTrace, WhatStandsBehindTheEndIsJunkNotTruncation) {
  for (const std::string last : {R"("traceName": "x")", R"("n": 1)"}) {
    const ReadBack read =
        Read(R"({"traceEvents": [{"ph":"X","ts":1,"dur":1}], )" + last + "} tail");
    EXPECT_EQ(read.lines.size(), 1u);
    EXPECT_THAT(NoteIds(read.notes), ElementsAre("trailing-junk 1"));
  }
  EXPECT_THAT(NoteIds(Read(std::string(R"({"traceEvents": [])") + std::string(9, '\0')).notes),
              ElementsAre("truncated-json 1"));
}

TEST(DamagedTrace, ManyUnclosedStringsTakeNoQuadraticTime) {
  std::string json = R"([{"ph":"X","ts":1,"dur":1})";
  for (int i = 0; i < 20000; ++i) json += R"(,{"cat":")";
  json += R"(,{"ph":"X","ts":2,"dur":1}])";
  EXPECT_GE(Read(json).lines.size(), 1u);  // took seconds before strings were bounded
}

}  // namespace
}  // namespace tacho
