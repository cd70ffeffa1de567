#include "ingest/nsys_sqlite/nsys_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/nsys_sqlite/export_for_test.h"
#include "ingest/nsys_sqlite/nvtx_text.h"
#include "ingest/nsys_sqlite/timed_for_test.h"

namespace tacho::nsys {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The only trace of an export with these rows.
Trace ReadOne(const std::string& rows, const std::string& version = kVersion) {
  SqliteDatabase database = MakeExport(version + rows);
  auto traces = ReadAll(database);
  EXPECT_TRUE(traces) << traces.error().message;
  EXPECT_EQ(traces->size(), 1U);
  return std::move(traces->begin()->second);
}

std::string ArgsOfCall(const Trace& trace, size_t row) {
  return ArgsText(trace, HostCallArgs(trace, row));
}

TEST(NsysReader, ReadsAKernelAndItsLaunch) {
  const Trace trace = ReadOne(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 3, 1, 7, 17, " + Global(42) +
      ", 1, 1, NULL, 4, 2, 1, 128, 1, 1, 32, NULL);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (-5, 20, 0, " +
      Global(42, 43) +
      ", 17, 2, 0);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
      "INSERT INTO PROCESSES VALUES (" +
      Global(42) + ", 42, 'python3'), (" + Global(1) +
      ", 1, 'init');"
      "INSERT INTO StringIds VALUES (3, 'worker');"
      "INSERT INTO ThreadNames VALUES (3, 20, " +
      Global(42, 43) + ");");
  EXPECT_TRUE(trace.notes.list().empty());
  ASSERT_EQ(trace.gpu.size(), 1U);
  EXPECT_EQ(trace.Text(trace.gpu.name[0]), "gemm<float>");
  EXPECT_EQ(trace.gpu.When(0), (Interval{{100}, {150}}));
  EXPECT_EQ(trace.gpu.correlation[0], 17);
  const Stream& stream = trace.words[trace.gpu.stream[0]];
  EXPECT_EQ(trace.Text(stream.device), "3");
  EXPECT_EQ(trace.Text(stream.stream), "7");
  EXPECT_EQ(ArgsText(trace, GpuArgs(trace, 0)),
            R"({"device": 3, "context": 1, "stream": 7, "correlation": 17, "grid": [4, 2, 1], )"
            R"("block": [128, 1, 1], "registers per thread": 32, "base name": "gemm<float>"})");
  const LaunchSizes& sizes = trace.words[trace.gpu.launch[0]];
  EXPECT_EQ(sizes.grid, (LaunchSizes::Xyz{4, 2, 1}));
  EXPECT_EQ(sizes.block, (LaunchSizes::Xyz{128, 1, 1}));
  EXPECT_EQ(sizes.registers, 32);
  EXPECT_EQ(sizes.dynamic_shared_bytes, std::nullopt);
  ASSERT_EQ(trace.host_calls.size(), 1U);
  EXPECT_EQ(trace.Text(trace.host_calls.name[0]), "cudaLaunchKernel");
  EXPECT_EQ(trace.host_calls.When(0), (Interval{{-5}, {20}}));
  EXPECT_EQ(trace.host_calls.correlation[0], 17);
  EXPECT_EQ(ArgsOfCall(trace, 0), R"({"correlation": 17, "return value": 0, "version": 7000})");
  const Track& thread = trace.words[trace.host_calls.track[0]];
  EXPECT_EQ(trace.Text(thread.tid), "43");
  EXPECT_EQ(trace.Text(thread.name), "worker");
  EXPECT_EQ(trace.Text(trace.words[thread.process].name), "python3");
  EXPECT_EQ(trace.words[thread.process].number, 42);
  EXPECT_EQ(trace.header.base_time_ns, 1700000000000000000);
  EXPECT_EQ(trace.header.format, TraceFormat::kNsys);
  EXPECT_EQ(trace.counts.by_label.at("CUPTI_ACTIVITY_KIND_KERNEL"), 1U);
}

TEST(NsysReader, ReadsCopiesMemsetsAndGraphs) {
  const std::string gpu = ", 0, 1, 7, ";  // device, context, stream
  const std::string of = ", " + Global(1) + ", ";
  const Trace trace =
      ReadOne("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 10" + gpu + "1" + of +
              "4096, 1, 0, 2), "
              "(20, 25" +
              gpu + "2" + of + "8, 12, NULL, 99), (0, 1" + gpu + "3" + of +
              "8, 77, 2, 2);"
              "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (30, 31" +
              gpu + "4" + of +
              "0, 16, 2);"
              "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (40, 90" +
              gpu + "5" + of +
              "3, 9), "
              "(90, 95" +
              gpu + "6" + of + "NULL, 9);");
  std::vector<std::string_view> names;
  for (const StringId name : trace.gpu.name) names.push_back(trace.Text(name));
  EXPECT_THAT(names,
              ElementsAre("Memcpy HtoD (Pageable -> Device)", "Memcpy UvmDtoH (Unknown -> Unknown)",
                          "Memcpy Unknown (Device -> Device)", "Memset (Device)", "CUDA graph 3",
                          "CUDA graph 9"));
  EXPECT_EQ(ArgText(trace, GpuArgs(trace, 0), "bytes"), "4096");
  EXPECT_EQ(ArgText(trace, GpuArgs(trace, 3), "bytes"), "16");
  EXPECT_EQ(trace.gpu.kind[4], SliceKind::kKernel);
  EXPECT_EQ(trace.notes.CountOf(NoteId::kGraphAsOne), 2U);
  EXPECT_EQ(trace.notes.list().size(), 1U);
}

TEST(NsysReader, NamesWaitsByTheirCalls) {
  // The types are those of schema 3.13, where they are wrong.
  const Trace trace = ReadOne(
      "INSERT INTO StringIds VALUES (3, 'cudaDeviceSynchronize_v3020'), (4, "
      "'cudaStreamWaitEvent_ptsz');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 9, 0, " +
      Global(1, 1) +
      ", 5, 3, 0), "
      "(10, 19, 0, " +
      Global(1, 1) +
      ", 4, 4, 0);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 8, 0, 1, 4294967295, 5, " +
      Global(1) + ", 1, 4294967295), (11, 12, 0, 1, 7, 4, " + Global(1) +
      ", 3, 6), (20, 30, 0, 1, 7, 99, " + Global(1) + ", 2, 4294967295);");
  ASSERT_EQ(trace.others.size(), 3U);
  EXPECT_EQ(trace.Text(trace.others.name[0]), "Context Sync");
  EXPECT_EQ(trace.Text(trace.others.name[1]), "Stream Wait Event");
  EXPECT_EQ(trace.Text(trace.others.name[2]), "Sync");
  EXPECT_EQ(trace.Text(trace.words[trace.others.track[0]].tid), "(no stream)");
  EXPECT_EQ(ArgsText(trace, {trace.others.args[1]}),
            R"({"context": 1, "stream": 7, "correlation": 4, "sync type": 3, "event id": 6})");
}

TEST(NsysReader, ReadsNvtx) {
  const std::string thread = Global(1, 2);
  const Trace trace = ReadOne(
      "INSERT INTO StringIds VALUES (3, 'ncclAllReduce'), (4, 'NCCL');"
      // start, end, type, range id, text, thread, end thread, text id, domain, payload
      "INSERT INTO NVTX_EVENTS VALUES (0, 50, 59, NULL, 'execute_context_1(8)_generation_0(0)', " +
      thread + ", NULL, NULL, 0, NULL), (10, 20, 59, NULL, NULL, " + thread +
      ", NULL, 3, 7, 64), "
      "(12, 90, 60, 5, 'request', " +
      thread + ", " + Global(1, 3) +
      ", NULL, 0, NULL), "
      "(30, NULL, 34, NULL, 'mark', " +
      thread +
      ", NULL, NULL, 0, NULL), "
      "(0, NULL, 75, NULL, NULL, " +
      thread +
      ", NULL, 4, 7, NULL), "
      "(60, NULL, 59, NULL, 'open', " +
      thread +
      ", NULL, NULL, 0, NULL), "
      "(5, 7, 59, NULL, 'aten::mm, seq = 5, op_id = 31, sizes = [[2, 3], [3, 4]]', " +
      thread + ", NULL, NULL, 0, NULL);");
  ASSERT_EQ(trace.annotations.size(), 3U);
  EXPECT_EQ(trace.Text(trace.annotations.name[0]), "execute_context_1(8)_generation_0(0)");
  EXPECT_EQ(trace.annotations.args[0].shape, ArgsShapeId::kNone);
  EXPECT_EQ(trace.Text(trace.annotations.name[1]), "ncclAllReduce");
  EXPECT_EQ(ArgsText(trace, {trace.annotations.args[1]}), R"({"domain": "NCCL", "payload": 64})");
  EXPECT_EQ(trace.Text(trace.annotations.name[2]), "open");
  EXPECT_EQ(trace.annotations.When(2), (Interval{{60}, {90}})) << "until the last event";
  EXPECT_EQ(trace.notes.CountOf(NoteId::kUnfinishedSpan), 1U);
  EXPECT_EQ(trace.notes.list().size(), 1U);
  ASSERT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.Text(trace.ranges.name[0]), "request");
  EXPECT_EQ(trace.ranges.duration[0], 78);
  EXPECT_EQ(ArgsText(trace, {trace.ranges.args[0]}), R"({"range id": 5, "end thread": 3})");
  ASSERT_EQ(trace.instants.size(), 1U);
  EXPECT_EQ(trace.Text(trace.instants.name[0]), "mark");
  ASSERT_EQ(trace.host_ops.size(), 1U);
  EXPECT_EQ(trace.Text(trace.host_ops.name[0]), "aten::mm");
  EXPECT_EQ(ArgsText(trace, HostOpArgs(trace, 0)),
            R"({"Sequence number": 5, "op_id": 31, "Input Dims": [[2, 3], [3, 4]]})");
  EXPECT_EQ(trace.counts.total, 6U);
}

TEST(NsysReader, ReadsNvtxOfImportedTextsAndOfDomainsWithoutAName) {
  const std::string thread = Global(1, 2);
  const Trace trace = ReadOne("INSERT INTO NVTX_EVENTS VALUES (10, 20, 70, NULL, 'a', " + thread +
                              ", NULL, NULL, 3, NULL), (30, 40, 71, NULL, 'b', " + thread +
                              ", NULL, NULL, 0, NULL), (50, NULL, 59, NULL, 'open', " + thread +
                              ", NULL, NULL, 0, NULL), (70, NULL, 76, NULL, NULL, " + thread +
                              ", NULL, NULL, 0, NULL);");
  ASSERT_EQ(trace.annotations.size(), 2U);
  EXPECT_EQ(ArgsText(trace, {trace.annotations.args[0]}), R"({"domain": 3})");
  EXPECT_EQ(trace.annotations.When(1), (Interval{{50}, {70}})) << "until the last row";
  ASSERT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.ranges.duration[0], 10);
}

TEST(NsysReader, AProcessThatOnlyRegistersADomainHasNoTrace) {
  const std::string rest = ", NULL, NULL, 7, NULL)";
  const Trace trace = ReadOne(
      "INSERT INTO StringIds VALUES (3, 'by id');"
      "INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, 'NCCL', " +
      Global(99, 99) + rest + ", (0, NULL, 75, NULL, 'mine', " + Global(42, 42) + rest +
      ", (0, NULL, 75, NULL, NULL, " + Global(42, 42) +
      ", NULL, 3, 8, NULL), (5, 7, 59, NULL, 'a', " + Global(42, 42) + rest +
      ", (8, 9, 59, NULL, 'b', " + Global(42, 42) + ", NULL, NULL, 8, NULL);");
  ASSERT_EQ(trace.annotations.size(), 2U);
  EXPECT_EQ(ArgsText(trace, {trace.annotations.args[0]}), R"({"domain": "mine"})");
  EXPECT_EQ(ArgsText(trace, {trace.annotations.args[1]}), R"({"domain": "by id"})");
}

TEST(NsysReader, AnOpenRangeIsNoLongerThanOthersMayBe) {
  const std::string of = ", 59, NULL, 'a', " + Global(1, 1) + ", NULL, NULL, 0, NULL)";
  const Trace trace =
      ReadOne("INSERT INTO NVTX_EVENTS VALUES (-2000000000000000000, NULL" + of + ", (5, NULL" +
              of + ", (2000000000000000000, 2000000000000000001" + of + ";");
  EXPECT_EQ(trace.notes.CountOf(NoteId::kBadTime), 2U);
  ASSERT_EQ(trace.annotations.size(), 1U);
  EXPECT_EQ(trace.annotations.duration[0], 1);
}

TEST(NsysReader, ReadsThePartsThatAreAskedForAlone) {
  const std::string of = Global(1), thread = Global(1, 2);
  SqliteDatabase database =
      MakeExport(std::string(kVersion) +
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 9, 0, 1, 7, 1, " + of +
                 ", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, NULL);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 2, 0, " +
                 thread +
                 ", 1, 2, 0);"
                 "INSERT INTO NVTX_EVENTS VALUES (0, 2, 59, NULL, 'a', " +
                 thread +
                 ", NULL, NULL, 0, NULL);"
                 "INSERT INTO OSRT_API VALUES (0, 2, 27, " +
                 thread + ", 1, 0, 0);");
  const auto read = [&](const NsysParts& parts) {
    TraceBuilder builder;
    EXPECT_TRUE(ReadNsysSqlite(
        database,
        {.next_sink = [&](const std::string&) -> EventSink& { return builder; }, .parts = parts}));
    return std::move(builder).Finish();
  };
  const NsysParts none{.gpu = false,
                       .gpu_details = false,
                       .calls = false,
                       .ranges = false,
                       .os_calls = false,
                       .rest = false};
  EXPECT_EQ(read(none).counts.total, 0U);
  NsysParts parts = none;
  parts.gpu = true;
  const Trace kernels = read(parts);
  EXPECT_EQ(kernels.counts.total, 1U);
  EXPECT_EQ(kernels.Text(kernels.gpu.name[0]), "gemm<float>");
  EXPECT_EQ(kernels.gpu.correlation[0], 1);
  parts.calls = parts.ranges = true;
  const Trace more = read(parts);
  EXPECT_EQ(more.counts.total, 3U);
  EXPECT_EQ(ArgsOfCall(more, 0), R"({"correlation": 1, "version": 7000})");
  EXPECT_EQ(read({}).counts.total, 4U);
}

TEST(NsysReader, KeepsProcessesApart) {
  std::string rows;
  for (const int pid : {20, 10}) {
    rows += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, " + std::to_string(pid) +
            ", 0, 1, 7, 1, " + Global(pid) +
            ", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, NULL);"
            "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (" +
            std::to_string(pid / 10) + ", 0, " + std::to_string(pid) +
            ");"
            "INSERT INTO TARGET_INFO_GPU VALUES (" +
            std::to_string(pid / 10) + ", 'GPU of " + std::to_string(pid) + "', 80, 132, 9, 0, 5);";
  }
  rows += "INSERT INTO OSRT_API VALUES (0, 5, 27, " + Global(30, 30) +
          ", 1, 0, NULL);"
          "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'of one', " +
          Global(10) + "), (3, 'of all', " + Global(0) + "), (1, 'no warning', " + Global(0) + ");";
  SqliteDatabase database = MakeExport(kVersion + rows);
  const auto traces = ReadAll(database);
  ASSERT_TRUE(traces);
  ASSERT_EQ(traces->size(), 3U);
  for (const int pid : {10, 20}) {
    const Trace& trace = traces->at("pid=" + std::to_string(pid));
    EXPECT_EQ(trace.span.length().ns, pid);
    ASSERT_EQ(trace.header.devices.size(), 1U);
    EXPECT_EQ(trace.header.devices[0].id, "0");
    EXPECT_EQ(trace.header.devices[0].name, "GPU of " + std::to_string(pid));
  }
  const Trace& other = traces->at("pid=30");
  EXPECT_EQ(other.others.size(), 1U);
  EXPECT_TRUE(other.header.devices.empty());
  EXPECT_THAT(other.header.producer_log, ElementsAre("of all"));
  EXPECT_THAT(traces->at("pid=10").header.producer_log, ElementsAre("of all", "of one"));
}

// A GPU process, and two processes that have nothing but what nsys wrote about its own cost.
std::string WithHelpers() {
  std::string rows = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 5, 0, 1, 7, 1, " +
                     Global(10) + ", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, NULL);";
  for (const int pid : {9, 10, 11}) {
    rows += "INSERT INTO PROFILER_OVERHEAD VALUES (0, 7, " + Global(pid, pid) +
            ", 1, NULL);"
            "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'of " +
            std::to_string(pid) + "', " + Global(pid) + ");";
  }
  return rows;
}

TEST(NsysReader, AHelperProcessIsNoTrace) {
  SqliteDatabase database = MakeExport(kVersion + WithHelpers());
  const auto traces = ReadAll(database);
  ASSERT_TRUE(traces);
  ASSERT_EQ(traces->size(), 1U);
  const Trace& trace = traces->at("pid=10");
  EXPECT_EQ(trace.others.size(), 1U) << "its own overhead";
  EXPECT_THAT(trace.header.producer_log, ElementsAre("of 10"));
  EXPECT_TRUE(trace.notes.list().empty());
}

TEST(NsysReader, WhereAllAreHelpersTheyAreKept) {
  SqliteDatabase database =
      MakeExport(kVersion + std::string("INSERT INTO PROFILER_OVERHEAD VALUES (0, 7, ") +
                 Global(9, 9) + ", 1, NULL), (0, 8, " + Global(11, 11) + ", 1, NULL);");
  const auto traces = ReadAll(database);
  ASSERT_TRUE(traces);
  EXPECT_EQ(traces->size(), 2U);
}

TEST(NsysReader, ReadsTheProcessThatIsAskedFor) {
  const std::string rows = WithHelpers() + "INSERT INTO OSRT_API VALUES (0, 5, 27, " +
                           Global(30, 30) +
                           ", 1, 0, NULL);"
                           "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'of 30', " +
                           Global(30) + ");";
  const auto read = [&](const std::string& only) -> Result<std::vector<Trace>> {
    SqliteDatabase database = MakeExport(kVersion + rows);
    std::vector<std::unique_ptr<TraceBuilder>> builders;
    TACHO_RETURN_IF_ERROR(
        ReadNsysSqlite(database, {.next_sink = [&](const std::string& part) -> EventSink& {
                                    EXPECT_EQ(part, only);
                                    return *builders.emplace_back(std::make_unique<TraceBuilder>());
                                  },
                                  .only = only}));
    std::vector<Trace> traces;
    for (const auto& builder : builders) traces.push_back(std::move(*builder).Finish());
    return traces;
  };
  const auto gpu = read("pid=10"), other = read("pid=30"), wrong = read("pid=11");
  ASSERT_TRUE(gpu && other);
  ASSERT_EQ(gpu->size(), 1U);
  EXPECT_EQ(gpu->front().gpu.size(), 1U);
  EXPECT_THAT(gpu->front().header.producer_log, ElementsAre("of 10"));
  EXPECT_TRUE(gpu->front().notes.list().empty()) << "rows of others are not damaged";
  ASSERT_EQ(other->size(), 1U);
  EXPECT_EQ(other->front().gpu.size(), 0U);
  EXPECT_EQ(other->front().others.size(), 1U);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(wrong.error().message, "has no process pid=11; it has: pid=10, pid=30");
}

TEST(NsysReader, NotesWhatIsDamaged) {
  const std::string rest = ", 1, 1, 1, 1, 1, 1, 1, 1, 1, NULL)";
  const std::string of = ", 1, 7, 1, " + Global(1) + ", ";
  const Trace trace =
      ReadOne("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 40, 0" + of + "1" + rest +
              ", (60, NULL, 0" + of + "1" + rest + ", ('soon', 70, 0" + of + "1" + rest +
              ", (70, 9000000000000000000, 0" + of + "1" + rest + ", (80, 81, NULL" + of + "1" +
              rest + ", (80, 81, 0, 1, 7, 1, NULL, 1" + rest + ", (90, 91, 0" + of + "999" + rest +
              ", (92, 93, 0" + of + "999" + rest + ";");
  EXPECT_EQ(trace.notes.CountOf(NoteId::kNegativeDuration), 1U);
  EXPECT_EQ(trace.notes.CountOf(NoteId::kMissingDuration), 1U);
  EXPECT_EQ(trace.notes.CountOf(NoteId::kBadTime), 2U);
  EXPECT_EQ(trace.notes.CountOf(NoteId::kDamagedRow), 2U);
  EXPECT_EQ(trace.notes.CountOf(NoteId::kUnknownString), 1U) << "once for each";
  ASSERT_EQ(trace.gpu.size(), 4U);
  EXPECT_EQ(trace.Text(trace.gpu.name[3]), "(string 999)");
  EXPECT_THAT(trace.notes.list()[0].where, HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL row "));
}

// Some tools write such tables: a missing column is no damage of the rows.
TEST(NsysReader, ATableWithoutTheProcessIsOfTheOneThatMadeTheCalls) {
  const std::string kernels =
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
      "correlationId, shortName) VALUES (100, 150, 0, 1, 7, 17, 1), (200, 250, 0, 1, 7, 18, 1);"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid;";
  const std::string calls = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90, 95, 0, " +
                            Global(42, 43) + ", 17, 1, 0);";
  const Trace with_calls = ReadOne(calls + kernels);
  EXPECT_EQ(with_calls.gpu.size(), 2U);
  EXPECT_EQ(with_calls.host_calls.size(), 1U);
  EXPECT_EQ(with_calls.notes.CountOf(NoteId::kDamagedRow), 0U);
  // With two processes it is unknown whose kernels they are.
  const std::string two = calls + "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (190, 195, 0, " +
                          Global(44, 44) + ", 18, 1, 0);" + kernels;
  SqliteDatabase of_two = MakeExport(two);
  uint64_t damaged = 0;
  const auto traces = ReadAll(of_two);
  ASSERT_TRUE(traces) << traces.error().message;
  for (const auto& [name, trace] : *traces) {
    EXPECT_EQ(trace.gpu.size(), 0U);
    damaged += trace.notes.CountOf(NoteId::kDamagedRow);
  }
  EXPECT_GT(damaged, 0U);
  EXPECT_EQ(SeenOf(of_two, true).Text(), SeenOf(of_two, false).Text());
  const Trace alone = ReadOne(kernels);
  EXPECT_EQ(alone.gpu.size(), 2U);
  EXPECT_EQ(alone.notes.CountOf(NoteId::kDamagedRow), 0U);
  SqliteDatabase database = MakeExport(calls + kernels);
  EXPECT_EQ(SeenOf(database, true).Text(), SeenOf(database, false).Text());
}

TEST(NsysReader, RefusesWhatIsNoExport) {
  const auto error = [](SqliteDatabase database) {
    const auto traces = ReadAll(database);
    return traces ? std::string() : traces.error().message;
  };
  EXPECT_THAT(error(*SqliteDatabase::InMemory()), HasSubstr("is an empty database"));
  EXPECT_THAT(error(MakeExport(kVersion, {"none"})), "");
  EXPECT_THAT(error(MakeExport("", {"StringIds"})), HasSubstr("it has no table StringIds"));
  EXPECT_THAT(
      error(MakeExport("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '4.1.0'), "
                       "('EXPORT_SCHEMA_VERSION_MAJOR', '4')")),
      HasSubstr("of schema 4.1.0"));
  EXPECT_THAT(error(MakeExport("CREATE TABLE slices (dur_ns); CREATE TABLE ranks (base_time_ns)")),
              HasSubstr("tacho export wrote"));
  // A view could compute anything.
  EXPECT_THAT(
      error(MakeExport("CREATE VIEW StringIds AS SELECT 1 AS id, 'x' AS value", {"StringIds"})),
      HasSubstr("it has no table StringIds"));
}

TEST(NsysReader, ANewerSchemaIsReadAndNoted) {
  const Trace trace =
      ReadOne("",
              "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.99.0'), "
              "('EXPORT_SCHEMA_VERSION_MAJOR', '3'), ('EXPORT_SCHEMA_VERSION_MINOR', '99');");
  EXPECT_EQ(trace.notes.CountOf(NoteId::kUnknownSchema), 1U);
  EXPECT_EQ(trace.notes.list()[0].where, "schema 3.99.0");
  EXPECT_EQ(trace.counts.total, 0U);
}

TEST(NsysReader, TheOldTableOfVersionsIsKnown) {
  const Trace trace = ReadOne(
      "CREATE TABLE EXPORT_META_DATA(name TEXT, value TEXT);"
      "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '2'), "
      "('EXPORT_SCHEMA_VERSION_MINOR', '9'), ('EXPORT_PARAM_TIME_SHIFT', '5');"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (17);",
      "");
  EXPECT_TRUE(trace.notes.list().empty());
  EXPECT_EQ(trace.header.base_time_ns, -1) << "times that were shifted have no known base";
}

TEST(NvtxText, SaysAllOfWhatTorchWrote) {
  const auto all = ParseTorchRange("aten::mm, seq = 5, op_id = 31, sizes = [[2, 3], []]");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->name, "aten::mm");
  EXPECT_EQ(all->sequence, 5);
  EXPECT_EQ(all->op_id, 31);
  EXPECT_EQ(all->sizes, "[[2, 3], []]");
  const auto least = ParseTorchRange("a, b, op_id = 0");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->name, "a, b");
  EXPECT_FALSE(least->sequence);
  for (const char* other :
       {"", "aten::mm", "aten::mm, seq = 5", "x, op_id = ", "x, op_id = 007", ", op_id = 1",
        "x, op_id = -1", "x, op_id = 1, sizes = [[2,3]]", "x, op_id = 1, sizes = [2",
        "x, op_id = 1, sizes = [2] ", "x, op_id = 1, sizes = [, 2]", "x, op_id = 1, more"}) {
    EXPECT_FALSE(ParseTorchRange(other)) << other;
  }
  EXPECT_TRUE(IsOperatorName("MmBackward0"));
  EXPECT_FALSE(IsOperatorName("step[DECODE bs=4]"));
}

}  // namespace
}  // namespace tacho::nsys
