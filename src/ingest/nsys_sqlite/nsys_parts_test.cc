// What tacho stats reads of an export: some of its parts, and times without rows.
#include <gtest/gtest.h>

#include "ingest/nsys_sqlite/export_for_test.h"

namespace tacho::nsys {
namespace {

constexpr NsysParts kNoParts{.gpu = false,
                             .gpu_details = false,
                             .calls = false,
                             .ranges = false,
                             .os_calls = false,
                             .rest = false};

Trace ReadParts(SqliteDatabase& database, const NsysParts& parts, const NsysTimed& timed = {}) {
  TraceBuilder builder;
  EXPECT_TRUE(ReadNsysSqlite(
      database, {.next_sink = [&](const std::string&) -> EventSink& { return builder; },
                 .parts = parts,
                 .timed = timed}));
  return std::move(builder).Finish();
}

std::string KernelRow(int64_t start, const std::string& end) {
  return "(" + std::to_string(start) + ", " + end + ", 0, 1, 7, 1, " + Global(1) +
         ", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, NULL)";
}

TEST(NsysParts, GraphsAsAWholeAreNotedWhereWorkIsAskedFor) {
  const std::string graph = ", 0, 1, 7, 5, " + Global(1) + ", 3, 9)";
  SqliteDatabase database =
      MakeExport(std::string(kVersion) + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " +
                 KernelRow(0, "9") + ";INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (40, 90" +
                 graph + ", (90, 95" + graph + ";");
  NsysParts parts = kNoParts;
  parts.gpu = true;
  const Trace rows = ReadParts(database, parts);
  EXPECT_EQ(rows.notes.CountOf(NoteId::kGraphAsOne), 2U);
  EXPECT_EQ(rows.gpu.size(), 1U);
  WorkTimes times;
  const Trace timed = ReadParts(database, kNoParts, {.gpu = true, .into = &times});
  EXPECT_EQ(timed.notes.CountOf(NoteId::kGraphAsOne), 2U);
  EXPECT_EQ(timed.notes.list()[0].where, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE row 1");
  EXPECT_EQ(times.kernels.size(), 1U);
  parts = kNoParts;
  parts.calls = true;
  EXPECT_EQ(ReadParts(database, parts).notes.CountOf(NoteId::kGraphAsOne), 0U);
}

TEST(NsysParts, RowsWithoutAnEndAreInNoFigure) {
  SqliteDatabase database =
      MakeExport(std::string(kVersion) + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " +
                 KernelRow(0, "9") + ", " + KernelRow(20, "NULL") + ";");
  NsysParts parts = kNoParts;
  parts.gpu = true;
  EXPECT_EQ(ReadParts(database, parts).gpu.size(), 2U);
  parts.unended = false;
  const Trace rows = ReadParts(database, parts);
  EXPECT_EQ(rows.gpu.size(), 1U);
  EXPECT_EQ(rows.counts.total, 2U);
  WorkTimes times;
  const Trace timed = ReadParts(database, kNoParts, {.gpu = true, .into = &times});
  ASSERT_EQ(times.kernels.size(), 1U);
  ASSERT_EQ(times.kernels[0].ns[0].size(), 1U);
  EXPECT_EQ(times.kernels[0].ns[0][0], 9);
  for (const Trace* const trace : {&rows, &timed}) {
    ASSERT_EQ(trace->notes.list().size(), 1U);
    EXPECT_EQ(trace->notes.CountOf(NoteId::kMissingDuration), 1U);
  }
}

}  // namespace
}  // namespace tacho::nsys
