#include "ingest/kineto_json/kineto_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/kineto_json/read_back_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ReadKinetoJson, ReadsEventsHeaderAndTrailer) {
  const ReadBack read = Read(SmallTrace());
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.lines.size(), 11u);
  EXPECT_EQ(read.lines[3],
            "X cat=\"kernel\" name=\"gemm\" pid=\"0\" tid=\"7\" ts=110250 dur=5125 device=\"0\" "
            "stream=\"7\" "
            "correlation=501 external=1 launch=\"[1, 2, 3]  - - - -\" args=\"{\\x0a      "
            "\"External id\": 1, \"device\": 0, "
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
  EXPECT_EQ(ArgText(trace, GpuArgs(trace, 2), "correlation"), "502");
  EXPECT_EQ(ArgText(trace, GpuArgs(trace, 2), "grid"), "[1, 2, 3]");
  EXPECT_EQ(trace.flows.size(), 0u);  // all repeat their slice
  EXPECT_EQ(trace.words.args_shapes().size(), 3u);
}

// Constant in a shape, in a slot as a text, in a slot as a number; twice in one event.
TEST(ReadKinetoJson, GraphsAndLaunchesHaveColumns) {
  std::string json = R"({"traceEvents":[)";
  const auto kernel = [&](int64_t i, const std::string& args) {
    json += (i == 0 ? "" : ",") + std::string(R"({"ph":"X","cat":"kernel","name":"k","pid":0,)") +
            R"("tid":7,"ts":)" + std::to_string(i) + R"(,"dur":1,"args":{)" + args + "}}";
  };
  constexpr int64_t kKernels = 400;
  for (int64_t i = 0; i < kKernels; ++i) {
    const std::string n = std::to_string(i);
    kernel(i, R"("graph id":3,"graph node id":)" + std::to_string(12884901888 + i) +
                  R"(,"grid":[)" + n + R"(, 2, 1],"block":[128, 1, 1],"registers per thread":)" +
                  n + R"(,"shared memory":7)");
  }
  kernel(kKernels, R"("grid":[1, 1, 1],"graph node id":"5","graph node id":"6","grid":[9, 9, 9])");
  kernel(kKernels + 1, R"("graph id":-1,"grid":"none","block":[1, 2])");
  kernel(kKernels + 2, R"("graph node id":8,"graph node id":null)");
  json += "]}";
  for (const bool fast : {true, false}) {
    TraceBuilder builder;
    const auto stream = StreamOfMemory(json);
    ASSERT_TRUE(ReadKinetoJson(*stream, builder, {.fast_path = fast}));
    const Trace trace = std::move(builder).Finish();
    const GpuTable& gpu = trace.gpu;
    ASSERT_EQ(gpu.size(), kKernels + 3);
    for (int64_t i = 0; i < kKernels; ++i) {
      const auto row = static_cast<size_t>(i);
      EXPECT_EQ(gpu.graph[row], 3);
      EXPECT_EQ(gpu.graph_node[row], 12884901888 + i);
      const LaunchSizes& sizes = trace.words[gpu.launch[row]];
      EXPECT_EQ(sizes.grid, (LaunchSizes::Xyz{static_cast<int32_t>(i), 2, 1}));
      EXPECT_EQ(sizes.block, (LaunchSizes::Xyz{128, 1, 1}));
      EXPECT_EQ(sizes.registers, i);
      EXPECT_EQ(sizes.shared_bytes, 7);
      EXPECT_EQ(ArgText(trace, GpuArgs(trace, row), "graph node id"),
                std::to_string(12884901888 + i));
    }
    EXPECT_EQ(gpu.graph_node[kKernels], 6);
    EXPECT_EQ(trace.words[gpu.launch[kKernels]].grid, (LaunchSizes::Xyz{9, 9, 9}));
    EXPECT_EQ(gpu.graph[kKernels + 1], -1);
    EXPECT_EQ(gpu.graph_node[kKernels + 2], 0);
    EXPECT_EQ(ArgsText(trace, GpuArgs(trace, kKernels + 2)),
              R"({"graph node id":8,"graph node id":null})");
    EXPECT_EQ(gpu.launch[kKernels + 1], LaunchId::kNone);
    EXPECT_EQ(ArgsText(trace, GpuArgs(trace, kKernels + 1)),
              R"({"graph id":-1,"grid":"none","block":[1, 2]})");
  }
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

// Each of these events is placed in a table by its time.
TEST(ReadKinetoJson, EventsWithoutTheirTimeAreNoted) {
  for (const bool fast : {true, false}) {
    for (const char letter : std::string("XBEbeC")) {
      const std::string event = std::string(R"({"ph":")") + letter +
                                R"(","name":"n","cat":"c","id":1,"pid":1,"tid":1,"dur":1})";
      const ReadBack read = Read("{\"traceEvents\":[" + event + "," + event + "]}", 1 << 20, fast);
      EXPECT_EQ(read.notes.CountOf(NoteId::kBadTime), 2u) << letter;
    }
  }
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

TEST(ReadKinetoJson, InstantsKeepTheIdsAmongTheirArguments) {
  for (const std::string category : {"kernel", "cpu_op", "cuda_runtime"}) {
    const std::string args = R"({"correlation":5,"External id":6})";
    TraceBuilder builder;
    const std::string json =
        R"([{"ph":"i","cat":")" + category + R"(","name":"n","ts":1,"args":)" + args + "}]";
    const auto stream = StreamOfMemory(json);
    ASSERT_TRUE(ReadKinetoJson(*stream, builder));
    const Trace trace = std::move(builder).Finish();
    ASSERT_EQ(trace.instants.size(), 1u);
    EXPECT_EQ(ArgsText(trace, {trace.instants.args[0]}), args) << category;
  }
}

TEST(ReadKinetoJson, EachNumberOfACounterIsASample) {
  std::string json = R"([{"ph":"C","name":"bad","pid":1,"ts":1,"args":{"a":1,"b":[2]}},)"
                     R"({"ph":"C","name":"GPU","pid":"GPU 0 Counters","ts":2,"args":{"":0.25}})";
  for (int i = 0; i < 100; ++i) {
    json += R"(,{"ph":"C","name":"memory","pid":1,"ts":3,"args":{"used":)" +
            std::to_string(INT64_MAX - i) + R"(,"free":")" + std::to_string(i) + ".5\"}}";
  }
  TraceBuilder builder;
  ASSERT_TRUE(ReadKinetoJson(*StreamOfMemory(json + "]"), builder));
  const Trace trace = std::move(builder).Finish();
  const CounterTable& counters = trace.counters;
  ASSERT_EQ(counters.size(), 202u);
  const auto metric = [&](size_t row) {
    const Metric& m = trace.words.metrics()[Index(counters.metric[row])];
    return std::string(trace.Text(trace.words[m.owner].id)) + "/" +
           std::string(trace.Text(m.name)) + "/" + std::string(trace.Text(m.series));
  };
  EXPECT_EQ(metric(0), "1/bad/a");
  EXPECT_EQ(metric(1), "GPU 0 Counters/GPU/");
  const Metric& gpu = trace.words.metrics()[1];
  EXPECT_EQ(trace.Text(trace.words[gpu.owner].device), "0");
  EXPECT_EQ(counters.value[1], CounterValue(0.25));
  EXPECT_EQ(metric(201), "1/memory/free");
  EXPECT_EQ(counters.value[200], CounterValue(INT64_MAX - 99));
  EXPECT_EQ(counters.value[201], CounterValue(99.5));
  EXPECT_EQ(trace.words.metrics().size(), 4u);
  // An event with an argument that is no number is also kept whole.
  ASSERT_EQ(trace.instants.size(), 1u);
  EXPECT_EQ(ArgsText(trace, {trace.instants.args[0]}), R"({"a":1,"b":[2]})");
}

}  // namespace
}  // namespace tacho
