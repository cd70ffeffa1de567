#include "ingest/nsys_sqlite/name_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/nsys_sqlite/export_for_test.h"

namespace tacho::nsys {
namespace {

using ::testing::HasSubstr;

std::string Names(int64_t count) {
  return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
         std::to_string(count) +
         ") INSERT INTO StringIds SELECT i, 'name ' || i FROM n ORDER BY i * 7919 % 1009";
}

SqliteDatabase WithNames(const std::string& columns, int64_t count) {
  return MakeExport("CREATE TABLE StringIds(" + columns + ";" + Names(count), {"StringIds"});
}

TEST(NameTable, FindsTheStringsWhateverTheKeyOfTheTable) {
  for (const char* const columns :
       {"id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)", "id INT, value TEXT)",
        "id INT PRIMARY KEY, value TEXT)", "id INTEGER PRIMARY KEY, value TEXT) WITHOUT ROWID",
        "id, value)"}) {
    SqliteDatabase database = WithNames(columns, 3000);
    NameTable names = *NameTable::Open(database, *Schema::Read(database));
    for (const int64_t id : {1, 2, 777, 3000})
      EXPECT_EQ(names.Find(id), "name " + std::to_string(id)) << columns;
    EXPECT_EQ(names.Find(0), std::nullopt) << columns;
    EXPECT_EQ(names.Find(3001), std::nullopt) << columns;
    EXPECT_EQ(names.damage(), "");
  }
}

TEST(NameTable, OfATableWithoutAnIndexSearchesItOnce) {
  SqliteDatabase database = WithNames("id INT, value TEXT)", 3000);
  NameTable names = *NameTable::Open(database, *Schema::Read(database));
  int steps = 0;
  constexpr int kOperations = 100;
  database.OnProgress(kOperations, [&] { return ++steps, false; });
  for (int64_t id = 1; id <= 3000; ++id) EXPECT_TRUE(names.Find(id));
  EXPECT_LT(steps, 3000) << "some ten operations for each name";
}

TEST(NameTable, DamageIsNoLackOfAName) {
  for (const char* const columns :
       {"id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)", "id INT, value TEXT)"}) {
    const SqliteDatabase whole = WithNames(columns, 3000);
    SqliteDatabase database = *SqliteDatabase::OfBytes(DamagedExport(whole, "StringIds"));
    NameTable names = *NameTable::Open(database, *Schema::Read(database));
    for (int64_t id = 1; id <= 3000; ++id) (void)names.Find(id);
    EXPECT_THAT(names.damage(), HasSubstr("StringIds")) << columns;
  }
}

// Tables that are read last, or string by string, are no exception.
TEST(NsysReader, NotesTheDamageOfEachTable) {
  std::string strings = kVersion;
  for (int64_t id = 3; id < 400; ++id)
    strings += "INSERT INTO StringIds VALUES (" + std::to_string(id) + ", 'a longer name');";
  const SqliteDatabase whole =
      MakeExport(strings + "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 20, 0, " +
                 Global(42, 43) + ", 17, 2, 0);INSERT INTO PROCESSES VALUES (" + Global(42) +
                 ", 42, 'python3');INSERT INTO ThreadNames VALUES (1, 20, " + Global(42, 43) +
                 ");INSERT INTO TARGET_INFO_GPU VALUES (0, 'H100', 80, 132, 9, 0, 0);"
                 "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 42);"
                 "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'warn', " +
                 Global(42) +
                 ");INSERT INTO ANALYSIS_DETAILS VALUES (999);"
                 // A range of a domain: the table is read twice.
                 "INSERT INTO NVTX_EVENTS VALUES (0, 9, 59, NULL, 'a', " +
                 Global(42, 43) + ", NULL, NULL, 7, NULL);");
  for (const char* const table :
       {"StringIds", "PROCESSES", "ThreadNames", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE",
        "DIAGNOSTIC_EVENT", "ANALYSIS_DETAILS", "NVTX_EVENTS", "META_DATA_EXPORT"}) {
    SqliteDatabase database = *SqliteDatabase::OfBytes(DamagedExport(whole, table));
    const auto traces = ReadAll(database);
    ASSERT_TRUE(traces) << traces.error().message;
    ASSERT_EQ(traces->size(), 1U);
    const Notes& notes = traces->begin()->second.notes;
    EXPECT_EQ(notes.CountOf(NoteId::kDamagedTable), 1U) << table;
    for (const Note& note : notes.list()) {
      if (note.id == NoteId::kDamagedTable) {
        EXPECT_THAT(note.where, HasSubstr(table));
      }
    }
  }
}

// What concerns all processes is copied to each.
TEST(NsysReader, BoundsWhatEachProcessGetsACopyOf) {
  std::string rows = kVersion;
  for (int i = 0; i < 300; ++i) {
    rows +=
        "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, printf('%.*c', 5000, 'w'), 0);"
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_" +
        std::to_string(i) +
        "', printf('%.*c', 5000, 'x'));INSERT INTO ANALYSIS_DETAILS VALUES (5);";
  }
  for (const int pid : {1, 2})
    rows += "INSERT INTO OSRT_API VALUES (0, 5, 27, " + Global(pid, pid) + ", 1, 0, NULL);";
  SqliteDatabase database = MakeExport(rows);
  const auto traces = ReadAll(database);
  ASSERT_TRUE(traces);
  ASSERT_EQ(traces->size(), 2U);
  for (const auto& [part, trace] : *traces) {
    EXPECT_EQ(trace.counts.by_label.at("ANALYSIS_DETAILS"), 1U);
    size_t logged = 0, fields = 0;
    for (const std::string& line : trace.header.producer_log) logged += line.size();
    for (const auto& [name, json] : trace.header.fields) fields += name.size() + json.size();
    EXPECT_GT(logged, 60'000U);
    EXPECT_LE(logged, 65'536U);
    EXPECT_GT(fields, 60'000U);
    EXPECT_LE(fields, 65'536U);
  }
}

}  // namespace
}  // namespace tacho::nsys
