#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/sqlite.h"

namespace tacho::nsys {

// The ordinary tables of a database with their columns. Views and virtual tables, which could
// compute anything, are left out.
class Schema {
 public:
  // kUnreadable if the database is damaged; kUsage, of SQLite's words, for any other failure.
  static Result<Schema> Read(SqliteDatabase& database);

  [[nodiscard]] bool Has(std::string_view table) const { return tables_.contains(table); }
  [[nodiscard]] bool Has(std::string_view table, std::string_view column) const;
  [[nodiscard]] bool empty() const { return tables_.empty(); }
  // "a, b, c, ..." for a message.
  [[nodiscard]] std::string SomeTables() const;

 private:
  static Result<Schema> ReadTables(SqliteDatabase& database);

  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> tables_;
};

// The rows of a table in the order of their rowids, by some of its columns: value i is that of
// columns[i]. Columns that the table lacks are NULL. A table that does not exist has no row.
//
//   TableScan rows(database, schema, "PROCESSES", kColumns);
//   while (rows.Next()) Use(rows.Integer(0));
//   if (!rows.damage().empty()) Note(rows.damage());
class TableScan {
 public:
  TableScan(SqliteDatabase& database, const Schema& schema, std::string_view table,
            std::span<const std::string_view> columns, std::string_view where = {});

  // False at the end, and at damage. Rowids that do not grow are damage too: a tree of pages that
  // meets itself would repeat its rows without end.
  bool Next();
  [[nodiscard]] int64_t row() const { return row_; }
  // Why reading ended before the end: "TABLE after row 17: ..."; "" if it did not.
  [[nodiscard]] const std::string& damage() const { return damage_; }
  [[nodiscard]] std::string Place() const { return table_ + " row " + std::to_string(row_); }

  [[nodiscard]] bool IsNull(int column) const { return rows_->IsNull(column + 1); }
  [[nodiscard]] int64_t Integer(int column) const { return rows_->Integer(column + 1); }
  [[nodiscard]] double Real(int column) const { return rows_->Real(column + 1); }
  [[nodiscard]] std::string_view Text(int column) const { return rows_->Text(column + 1); }
  // The value if it is an integer.
  [[nodiscard]] std::optional<int64_t> Maybe(int column) const {
    return rows_->Type(column + 1) == SQLITE_INTEGER ? std::optional(Integer(column))
                                                     : std::nullopt;
  }

 private:
  void Damaged(const std::string& why);

  std::string table_, damage_;
  std::optional<SqliteStatement> rows_;
  std::optional<int64_t> last_;
  int64_t row_ = 0;
};

}  // namespace tacho::nsys
