#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/random.h"
#include "ingest/nsys_sqlite/export_for_test.h"
#include "ingest/nsys_sqlite/random_export_for_test.h"
#include "ingest/nsys_sqlite/table_times.h"
#include "ingest/nsys_sqlite/timed_for_test.h"

namespace tacho::nsys {
namespace {

TEST(TimedTables, AreWhatTheRowsTakeOnAnyNumberOfThreads) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const std::string bytes = RandomExport(random, random.Between(0, 600), 6);
    SqliteDatabase database = *SqliteDatabase::OfBytes(bytes);
    const TimesSeen by_rows = SeenOf(database, false);
    EXPECT_EQ(by_rows.error, "");
    for (const size_t threads : {1U, 2U, 5U})
      EXPECT_EQ(by_rows.Text(), SeenOf(database, true, threads).Text()) << "seed " << seed;
  }
}

TEST(TimedTables, AreWhatTheRowsTakeAlsoWhereTheyAreDamaged) {
  size_t damaged = 0;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Random random(seed);
    const std::string whole = RandomExport(random, 300, 3);
    for (int round = 0; round < 25; ++round) {
      std::string bytes = whole;
      for (uint64_t flips = 1 + random.Below(6); flips > 0; --flips) {
        const size_t page = 4096 * (1 + random.Below(bytes.size() / 4096 - 1));
        const size_t at = page + random.Below(random.Below(2) == 0 ? 40 : 4096);
        bytes[std::min(at, bytes.size() - 1)] = static_cast<char>(random.Below(256));
      }
      auto database = SqliteDatabase::OfBytes(bytes);
      if (!database) continue;
      const TimesSeen by_rows = SeenOf(*database, false);
      for (const auto& [part, notes] : by_rows.notes)
        damaged += notes.find("damaged-table") == std::string::npos ? 0 : 1;
      for (const size_t threads : {1U, 4U})
        ASSERT_EQ(by_rows.Text(), SeenOf(*database, true, threads).Text())
            << "seed " << seed << ", " << round;
    }
  }
  EXPECT_GT(damaged, 10U);
}

// An unsalted hash, or one without the upper half of the product, maps these keys to few values.
TEST(TableTimes, HashesDependOnASaltAndOnAllBitsOfAKey) {
  SqliteDatabase database =
      MakeExport(std::string(kVersion) + "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'warn', 0);");
  constexpr std::array<std::string_view, 1> kSeverity{"severity"};
  TableScan row(database, *Schema::Read(database), "DIAGNOSTIC_EVENT", kSeverity);
  ASSERT_TRUE(row.Next());
  const auto make = [] { return TableTimes([](int64_t) { return true; }, 1, 0); };
  TableTimes one = make(), other = make();
  std::set<uint64_t> places;
  constexpr int64_t kKeys = 4096;
  for (int64_t i = 0; i < kKeys; ++i) {
    const std::array<int64_t, 2> key{42, i << 52};
    places.insert(one.EntryOf(row, key).hash % kKeys);
    EXPECT_NE(one.EntryOf(row, key).hash, other.EntryOf(row, key).hash);
  }
  EXPECT_EQ(one.entries().size(), size_t{kKeys});
  // A random function gives about 2600 places; fewer now and then, as the salt varies. A hash
  // without the upper half gives 1.
  EXPECT_GT(places.size(), size_t{kKeys / 16});
}

// More processes than there may be traces: the rows of the first ones count.
TEST(TimedTables, TakeAsManyProcessesAsTheRowsDo) {
  std::string sql = kVersion;
  for (int64_t pid = 1; pid < 4200; ++pid) {
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, " + Global(pid, 1) +
           ", 1, 1, 0);";
  }
  SqliteDatabase database = MakeExport(sql);
  const TimesSeen by_rows = SeenOf(database, false);
  EXPECT_EQ(by_rows.notes.size(), 4096U);
  EXPECT_EQ(by_rows.Text(), SeenOf(database, true, 3).Text());
}

}  // namespace
}  // namespace tacho::nsys
