#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/sqlite.h"
#include "io/sqlite_rows.h"

namespace tacho::nsys {

// The ordinary tables of a database with their columns. It leaves out views and virtual tables,
// which could compute anything, and computed columns.
class Schema {
 public:
  // kUnreadable if the database is damaged; kUsage, in SQLite's words, for any other failure.
  static Result<Schema> Read(SqliteDatabase& database);

  struct Column {
    SqliteColumn in_record;
    bool has_default = false;  // a record may then lack the column
  };
  struct Table {
    uint32_t root = 0;  // number of the root page
    std::map<std::string, Column, std::less<>> columns;
  };
  // Null if there is no such table.
  [[nodiscard]] const Table* Find(std::string_view table) const;
  [[nodiscard]] bool Has(std::string_view table) const { return Find(table) != nullptr; }
  [[nodiscard]] bool Has(std::string_view table, std::string_view column) const;
  [[nodiscard]] bool empty() const { return tables_.empty(); }
  // The names of the first `most` tables: "a, b, c"; "a, b, c, ..." if there are more.
  [[nodiscard]] std::string Tables(size_t most) const;

 private:
  static Result<Schema> ReadTables(SqliteDatabase& database);
  static Result<void> ReadColumns(SqliteDatabase& database, const std::string& name, Table& table);

  std::map<std::string, Table, std::less<>> tables_;
};

// Where a row is, for a message. The table's name must outlive this object.
struct RowPlace {
  std::string_view table;
  int64_t row = 0;
  // As text: "TABLE row 17".
  [[nodiscard]] std::string Text() const {
    return std::string(table) + " row " + std::to_string(row);
  }
};

// Reads some columns of a table, row by row in the order of the rowids. Value i of a row belongs to
// columns[i]. A column that the table lacks is NULL. A table that does not exist has no rows.
//
//  TableScan rows(database, schema, "PROCESSES", kColumns);
//  while (rows.Next()) Use(rows.Integer(0));
//  if (!rows.damage().empty()) Note(rows.damage());
//
// Reads the rows straight from the pages of the database. Leaves this to SQLite if the database or
// the table is of a kind that real exports do not have: without rowids, with texts in UTF-16, or
// with defaults for columns. Damage ends the scan at the same row and with the same words,
// whichever columns are read.
class TableScan {
 public:
  TableScan(SqliteDatabase& database, const Schema& schema, std::string_view table,
            std::span<const std::string_view> columns);
  // Another scan of the same table, for another thread. `whole` must read the pages itself
  // (is_direct). The new scan has no rows until Restrict is called.
  static TableScan PartOf(const TableScan& whole) { return TableScan(whole); }
  TableScan& operator=(const TableScan&) = delete;

  // The number of pages with rows; 0 if SQLite reads the rows.
  [[nodiscard]] size_t pages() const { return direct_ ? leaves_->pages.size() : 0; }
  // False if damage hides some of the pages with rows.
  [[nodiscard]] bool is_whole() const { return leaves_->damage.empty(); }
  // From now on reads the rows of the pages [begin, end). Rows outside of them are not checked.
  void Restrict(size_t begin, size_t end);

  // Moves to the next row. False at the end, and at damage. Rowids that do not grow count as
  // damage: in a tree of pages with a cycle the rows would repeat without end.
  bool Next() {
    if (!direct_) [[unlikely]]
      return NextOfSqlite();
    if (!direct_->Next()) return EndOfDirect();
    return Take(direct_->row());
  }
  // Whether this scan reads the pages itself, without SQLite.
  [[nodiscard]] bool is_direct() const { return direct_.has_value(); }
  [[nodiscard]] int64_t row() const { return row_.rowid(); }
  // Why reading stopped before the last row: "TABLE after row 17: ..."; "" if it did not.
  [[nodiscard]] const std::string& damage() const { return damage_; }
  [[nodiscard]] RowPlace place() const { return {table_, row()}; }

  // Whether the table has this column; otherwise it is NULL in each row.
  [[nodiscard]] bool Has(int column) const {
    return columns_[static_cast<size_t>(column)].position >= 0;
  }
  [[nodiscard]] bool IsNull(int column) const { return row_.IsNull(column); }
  [[nodiscard]] int64_t Integer(int column) const { return row_.Integer(column); }
  // Valid until the next call of Next or Text.
  [[nodiscard]] std::string_view Text(int column) const { return row_.Text(column, number_); }
  // The value if it is an integer.
  [[nodiscard]] std::optional<int64_t> Maybe(int column) const {
    return row_.IsInteger(column) ? std::optional(Integer(column)) : std::nullopt;
  }

 private:
  TableScan(const TableScan& whole);  // NOLINT(google-explicit-constructor): see PartOf

  bool Take(const SqliteRow& row) {
    if (row.rowid() <= last_ && has_last_) return Damaged("its rows repeat");
    last_ = row.rowid();
    has_last_ = true;
    row_ = row;
    return true;
  }
  bool EndOfDirect();
  bool NextOfSqlite();
  bool Damaged(const std::string& why);

  std::string table_, damage_;
  std::vector<SqliteColumn> columns_;
  std::shared_ptr<const SqliteLeaves> leaves_ = std::make_shared<const SqliteLeaves>();
  const SqlitePages* database_pages_ = nullptr;
  std::optional<SqliteRows> direct_;
  std::optional<SqliteStatement> by_sqlite_;
  std::vector<SqliteSlot> slots_;  // values of a row that SQLite read
  std::vector<uint8_t> record_;    // bytes of that row
  SqliteRow row_;
  int64_t last_ = 0;
  bool has_last_ = false;
  mutable std::string number_;
};

}  // namespace tacho::nsys
