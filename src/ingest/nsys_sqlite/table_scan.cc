#include "ingest/nsys_sqlite/table_scan.h"

#include <new>

namespace tacho::nsys {
namespace {

// Bounds of a schema; an export has some 100 tables of at most 60 columns.
constexpr size_t kMostTables = 5000;
constexpr size_t kMostColumns = 2000;

std::string QuotedName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

}  // namespace

Result<Schema> Schema::Read(SqliteDatabase& database) {
  try {
    return ReadTables(database);
  } catch (const std::bad_alloc&) {
    // A schema is small: so SQLite reports some damage of it.
    return Fail(ErrorKind::kUnreadable, "the database is damaged: its schema cannot be read");
  }
}

Result<Schema> Schema::ReadTables(SqliteDatabase& database) {
  Schema schema;
  // A virtual table has no page.
  TACHO_ASSIGN_OR_RETURN(SqliteStatement tables,
                         database.Prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                                          "rootpage > 0"));
  while (schema.tables_.size() < kMostTables) {
    TACHO_ASSIGN_OR_RETURN(const bool is_row, tables.Step());
    if (!is_row) break;
    schema.tables_.try_emplace(std::string(tables.Text(0)));
  }
  for (auto& [table, names] : schema.tables_) {
    TACHO_ASSIGN_OR_RETURN(SqliteStatement columns,
                           database.Prepare("PRAGMA table_info(" + QuotedName(table) + ")"));
    while (names.size() < kMostColumns) {
      TACHO_ASSIGN_OR_RETURN(const bool is_row, columns.Step());
      if (!is_row) break;
      names.emplace(columns.Text(1));
    }
  }
  return schema;
}

bool Schema::Has(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() && found->second.contains(column);
}

std::string Schema::SomeTables() const {
  constexpr size_t kShown = 5, kLongest = 40;
  std::string text;
  size_t shown = 0;
  for (const auto& [table, columns] : tables_) {
    text += (shown == 0 ? "" : ", ") + (shown == kShown ? "..." : table.substr(0, kLongest));
    if (shown++ == kShown) break;
  }
  return text;
}

TableScan::TableScan(SqliteDatabase& database, const Schema& schema, std::string_view table,
                     std::span<const std::string_view> columns, std::string_view where)
    : table_(table) {
  if (!schema.Has(table)) return;
  std::string sql = "SELECT rowid";
  for (const std::string_view column : columns) {
    sql += ", " + (schema.Has(table, column) ? QuotedName(column) : "NULL");
  }
  sql += " FROM " + QuotedName(table) + " NOT INDEXED";  // in the order of rowids
  if (!where.empty()) sql.append(" WHERE ").append(where);
  auto prepared = database.Prepare(sql);
  if (prepared) {
    rows_ = *std::move(prepared);
  } else {
    Damaged(prepared.error().message);
  }
}

bool TableScan::Next() {
  if (!rows_ || !damage_.empty()) return false;
  const Result<bool> is_row = rows_->Step();
  if (!is_row) {
    Damaged(is_row.error().message);
    return false;
  }
  if (!*is_row) return false;
  const int64_t row = rows_->Integer(0);
  if (last_ && row <= *last_) {
    Damaged("its rows repeat");
    return false;
  }
  last_ = row_ = row;
  return true;
}

void TableScan::Damaged(const std::string& why) {
  damage_ = table_ + (last_ ? " after row " + std::to_string(*last_) : "") + ": " + why;
}

}  // namespace tacho::nsys
