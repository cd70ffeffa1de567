#include "ingest/nsys_sqlite/table_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"
#include "base/random.h"

namespace tacho::nsys {
namespace {

using ::testing::HasSubstr;

constexpr int kColumns = 7;

// A real that is replaced by NaN in the end. Its bytes are the same in each order.
constexpr uint64_t kBecomesNan = 0x3abcdeffffdebc3a;

class Dice : public Random {
 public:
  using Random::Random;
  bool Is(uint64_t one_of) { return Below(one_of) == 0; }
};

std::string RandomText(Dice& dice, size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>(dice.Below(256));
  return text;
}

void BindRandomValue(Dice& dice, SqliteStatement& insert, int parameter, size_t page) {
  const uint64_t bits = dice.Next() >> dice.Below(64);
  switch (dice.Below(8)) {
    case 0:
      sqlite3_bind_null(insert.handle(), parameter + 1);
      break;
    case 1:
      sqlite3_bind_double(
          insert.handle(), parameter + 1,
          std::bit_cast<double>(dice.Is(4) ? kBecomesNan : dice.Next() & ~(uint64_t{1} << 62)));
      break;
    case 2:
      sqlite3_bind_double(insert.handle(), parameter + 1,
                          static_cast<double>(static_cast<int64_t>(bits)));
      break;
    case 3:
      insert.Bind(parameter, RandomText(dice, dice.Below(dice.Is(10) ? 4 * page : 40)));
      break;
    case 4: {
      constexpr std::array kTexts{"17",    " -4x",  "1e3",  "99999999999999999999",
                                  "-0",    "+5",    "0x10", "-99999999999999999999",
                                  "9.875", "\v\f7", ""};
      insert.Bind(parameter, kTexts[dice.Below(kTexts.size())]);
      break;
    }
    case 5: {
      const std::string blob = RandomText(dice, dice.Below(dice.Is(10) ? 3 * page : 20));
      sqlite3_bind_blob(insert.handle(), parameter + 1, blob.data(), static_cast<int>(blob.size()),
                        SQLITE_TRANSIENT);
      break;
    }
    default:
      insert.Bind(parameter, static_cast<int64_t>(dice.Is(2) ? bits : 0 - bits));
  }
}

void Run(SqliteDatabase& database, const std::string& sql) {
  const auto run = database.Run(sql);
  ASSERT_TRUE(run) << sql << ": " << run.error().message;
}

// A database with the table T of columns c0 to c6, and another one between its pages.
std::string RandomDatabase(Dice& dice) {
  constexpr std::array kTypes{"INTEGER", "TEXT",   "REAL",        "BLOB",      "",
                              "NUMERIC", "DOUBLE", "VARCHAR(10)", "REAL BLOB", "FLOATING POINT"};
  SqliteDatabase database = *SqliteDatabase::InMemory();
  const size_t page = size_t{512} << dice.Below(8);
  Run(database, "PRAGMA page_size = " + std::to_string(page));
  Run(database, "PRAGMA auto_vacuum = " + std::to_string(dice.Below(3)));
  if (int reserved = static_cast<int>(dice.Below(30)); dice.Is(3))
    sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
  std::string columns;
  const uint64_t key = dice.Below(12);
  const int added = static_cast<int>(dice.Below(3));  // columns that are added once there are rows
  for (int i = 0; i < kColumns - added; ++i) {
    columns += (i == 0 ? "c" : ", c") + std::to_string(i) + " ";
    if (static_cast<uint64_t>(i) == key) {
      columns += dice.Is(4) ? "INTEGER PRIMARY KEY DESC" : "Integer PRIMARY KEY";
    } else {
      columns += kTypes[dice.Below(kTypes.size())];
    }
    if (dice.Is(20))
      columns += ", g" + std::to_string(i) + " AS (c0) " + (dice.Is(2) ? "STORED" : "");
  }
  Run(database, "CREATE TABLE other (a, b); CREATE TABLE T (" + columns + ")");
  const auto insert = [&](int count, size_t rows) {
    std::string sql, marks;
    for (int i = 0; i < count; ++i) {
      sql += (i == 0 ? "c" : ", c") + std::to_string(i);
      marks += i == 0 ? "?" : ", ?";
    }
    SqliteStatement statement =
        *database.Prepare("INSERT OR IGNORE INTO T (" + sql + ") VALUES (" + marks + ")");
    Run(database, "BEGIN");
    for (size_t row = 0; row < rows; ++row) {
      statement.Reset();
      for (int i = 0; i < count; ++i) BindRandomValue(dice, statement, i, page);
      (void)statement.Step();  // a key that is no integer is refused
      if (dice.Is(20)) Run(database, "INSERT INTO other VALUES (1, zeroblob(300))");
      if (dice.Is(20)) Run(database, "DELETE FROM T WHERE rowid % 7 = 3");
      if (dice.Is(50)) Run(database, "DELETE FROM other");
    }
    Run(database, "COMMIT");
  };
  const size_t rows = dice.Is(5) ? 0 : dice.Below(400);
  insert(kColumns - added, rows);
  for (int i = kColumns - added; i < kColumns; ++i) {
    Run(database, "ALTER TABLE T ADD COLUMN c" + std::to_string(i) + " " +
                      kTypes[dice.Below(kTypes.size())] + (dice.Is(6) ? " DEFAULT 7.5" : ""));
  }
  insert(kColumns, rows / 4);
  std::string bytes = *database.Bytes();
  // SQLite never writes a real that is not a number: some become one afterwards.
  const std::string_view pattern(reinterpret_cast<const char*>(&kBecomesNan), sizeof kBecomesNan);
  for (size_t at = bytes.find(pattern); at != std::string::npos; at = bytes.find(pattern, at))
    bytes.replace(at, pattern.size(), "\x7f\xf8\0\0\0\0\0\1", pattern.size());
  return bytes;
}

constexpr std::array<std::string_view, kColumns + 1> kNames{"c3", "c0", "c6",   "c1",
                                                            "c5", "c2", "lack", "c4"};

TEST(TableScan, GivesWhatSqliteGives) {
  size_t direct = 0, rows = 0;
  constexpr uint32_t kDatabases = 150;
  for (uint32_t seed = 0; seed < kDatabases; ++seed) {
    Dice dice(seed);
    SqliteDatabase database = *SqliteDatabase::OfBytes(RandomDatabase(dice));
    const Schema schema = *Schema::Read(database);
    TableScan scan(database, schema, "T", kNames);
    direct += scan.is_direct() ? 1 : 0;
    SqliteStatement select =
        *database.Prepare("SELECT rowid, c3, c0, c6, c1, c5, c2, NULL, c4 FROM T NOT INDEXED");
    while (*select.Step()) {
      ASSERT_TRUE(scan.Next()) << "seed " << seed << ": " << scan.damage();
      ASSERT_EQ(scan.row(), select.Integer(0));
      ++rows;
      for (int i = 0; i < static_cast<int>(kNames.size()); ++i) {
        const std::string place = "seed " + std::to_string(seed) + ", " + scan.place().Text() +
                                  ", " + std::string(kNames[static_cast<size_t>(i)]);
        const int type = select.Type(i + 1);
        ASSERT_EQ(scan.IsNull(i), type == SQLITE_NULL) << place;
        ASSERT_EQ(scan.Maybe(i).has_value(), type == SQLITE_INTEGER) << place;
        ASSERT_EQ(scan.Integer(i), select.Integer(i + 1)) << place;
        ASSERT_EQ(scan.Text(i), select.Text(i + 1)) << place;
      }
    }
    EXPECT_FALSE(scan.Next());
    EXPECT_EQ(scan.damage(), "");
  }
  EXPECT_GT(direct, kDatabases / 2);
  EXPECT_LT(direct, kDatabases);  // SQLite reads tables with defaults
  EXPECT_GT(rows, 10 * kDatabases);
}

// A scan ends at the same row, whichever columns are read.
TEST(TableScan, EndsWhateverThePagesHold) {
  size_t damaged = 0, damaged_of_sqlite = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const std::string whole = RandomDatabase(dice);
    for (int round = 0; round < 20; ++round) {
      std::string bytes = whole;
      for (uint64_t flips = 1 + dice.Below(20); flips > 0; --flips) {
        // Most changes are in the bytes that say where things are.
        const size_t at = dice.Below(bytes.size()) & (dice.Is(2) ? ~size_t{0} : ~size_t{511});
        bytes[std::min(bytes.size() - 1, at + dice.Below(16))] = static_cast<char>(dice.Below(256));
      }
      if (dice.Is(2)) bytes[59] = 0;  // no encoding: SQLite reads the rows
      if (dice.Is(5)) bytes.resize(dice.Below(bytes.size()));
      auto database = SqliteDatabase::OfBytes(bytes);
      if (!database) continue;
      const auto schema = Schema::Read(*database);
      if (!schema) continue;
      TableScan scan(*database, *schema, "T", kNames);
      std::optional<int64_t> last;
      size_t rows = 0, rows_of_some = 0;
      for (; scan.Next(); ++rows) {
        ASSERT_TRUE(!last || *last < scan.row());
        last = scan.row();
        for (int i = 0; i < static_cast<int>(kNames.size()); ++i) {
          (void)scan.Integer(i);
          (void)scan.Text(i);
        }
      }
      TableScan some(*database, *schema, "T", std::span(kNames).first(dice.Below(kNames.size())));
      while (some.Next()) ++rows_of_some;
      ASSERT_EQ(rows_of_some, rows) << "seed " << seed << ", round " << round;
      ASSERT_EQ(some.damage(), scan.damage()) << "seed " << seed << ", round " << round;
      damaged += scan.damage().empty() ? 0 : 1;
      damaged_of_sqlite += !scan.damage().empty() && database->pages() == nullptr ? 1 : 0;
    }
  }
  EXPECT_GT(damaged, 100U);
  EXPECT_GT(damaged_of_sqlite, 50U);
}

// A table with so many rows that it has inner pages.
std::string SomeDatabase(const std::string& table = "CREATE TABLE T (c0 INTEGER, c1 TEXT)",
                         const std::string& before = "") {
  SqliteDatabase database = *SqliteDatabase::InMemory();
  Run(database, "PRAGMA page_size = 512;" + before + table +
                    ";WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                    "1000) INSERT INTO T SELECT i, 'text' FROM n");
  return *database.Bytes();
}

// How many rows there are before the end or the damage.
std::pair<size_t, std::string> CountRows(SqliteDatabase& database) {
  const Schema schema = *Schema::Read(database);
  constexpr std::array<std::string_view, 2> kBoth{"c0", "c1"};
  TableScan scan(database, schema, "T", kBoth);
  size_t rows = 0;
  while (scan.Next()) {
    ++rows;
    EXPECT_EQ(scan.Integer(0), static_cast<int64_t>(rows));
    EXPECT_EQ(scan.Text(1), "text");
  }
  return {rows, scan.damage()};
}

TEST(TableScan, ReadsWhatOnlySqliteCan) {
  SqliteDatabase utf16 = *SqliteDatabase::OfBytes(
      SomeDatabase("CREATE TABLE T (c0 INTEGER, c1 TEXT)", "PRAGMA encoding = 'UTF-16le';"));
  EXPECT_EQ(utf16.pages(), nullptr);
  EXPECT_EQ(CountRows(utf16), std::pair(size_t{1000}, std::string()));
  SqliteDatabase without = *SqliteDatabase::OfBytes(
      SomeDatabase("CREATE TABLE T (c0 INTEGER PRIMARY KEY, c1 TEXT) WITHOUT ROWID"));
  EXPECT_THAT(CountRows(without).second, HasSubstr("no such column: rowid"));
}

TEST(TableScan, SaysWhereAFileThatShrankEnds) {
  const FolderForTest folder;
  const std::string path = folder.path() + "/a.sqlite";
  const std::string bytes = SomeDatabase();
  std::ofstream(path, std::ios::binary) << bytes;
  SqliteDatabase database = *SqliteDatabase::OpenFile(path);
  EXPECT_EQ(CountRows(database), std::pair(size_t{1000}, std::string()));
  std::filesystem::resize_file(path, bytes.size() / 2);
  const auto [rows, damage] = CountRows(database);
  EXPECT_GT(rows, 100U);
  EXPECT_LT(rows, 1000U);
  EXPECT_THAT(damage, HasSubstr("T after row " + std::to_string(rows) + ": page "));
  EXPECT_THAT(damage, HasSubstr("is not in the file"));
}

TEST(TableScan, EndsInATreeThatMeetsItself) {
  std::string bytes = SomeDatabase();
  SqliteDatabase database = *SqliteDatabase::OfBytes(bytes);
  const uint32_t root = Schema::Read(database)->Find("T")->root;
  // The last child becomes the root itself.
  char* const page = bytes.data() + size_t{root - 1} * 512;
  ASSERT_EQ(page[0], 5);
  page[8] = page[9] = page[10] = 0;
  page[11] = static_cast<char>(root);
  SqliteDatabase circle = *SqliteDatabase::OfBytes(bytes);
  const auto [rows, damage] = CountRows(circle);
  EXPECT_GT(rows, 0U);
  EXPECT_THAT(damage, HasSubstr("T after row " + std::to_string(rows) + ": page "));
}

}  // namespace
}  // namespace tacho::nsys
