#include "ingest/nsys_sqlite/table_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>

namespace tacho::nsys {
namespace {

// Limits for a schema; an export has some 100 tables with at most 60 columns.
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

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

// Whether a column of this type stores integers as reals:
// https://www.sqlite.org/datatype3.html#determination_of_column_affinity
bool IsReal(std::string_view upper_type) {
  const auto has = [&](std::string_view word) {
    return upper_type.find(word) != std::string_view::npos;
  };
  const bool is_other = has("INT") || has("CHAR") || has("CLOB") || has("TEXT") || has("BLOB");
  return !is_other && (has("REAL") || has("FLOA") || has("DOUB"));
}

}  // namespace

Result<Schema> Schema::Read(SqliteDatabase& database) {
  try {
    return ReadTables(database);
  } catch (const std::bad_alloc&) {
    // A schema is small, so memory is not short. SQLite reports some damage of a schema this way.
    return Fail(ErrorKind::kUnreadable, "the database is damaged: its schema cannot be read");
  }
}

Result<Schema> Schema::ReadTables(SqliteDatabase& database) {
  Schema schema;
  // rootpage > 0: a virtual table has no pages.
  TACHO_ASSIGN_OR_RETURN(SqliteStatement tables,
                         database.Prepare("SELECT name, rootpage FROM sqlite_schema WHERE type = "
                                          "'table' AND rootpage > 0"));
  while (schema.tables_.size() < kMostTables) {
    TACHO_ASSIGN_OR_RETURN(const bool is_row, tables.Step());
    if (!is_row) break;
    schema.tables_[std::string(tables.Text(0))].root = static_cast<uint32_t>(tables.Integer(1));
  }
  for (auto& [name, table] : schema.tables_) {
    TACHO_RETURN_IF_ERROR(ReadColumns(database, name, table));
  }
  return schema;
}

Result<void> Schema::ReadColumns(SqliteDatabase& database, const std::string& name, Table& table) {
  enum { kName = 1, kType = 2, kDefault = 4, kKey = 5, kHidden = 6 };
  constexpr int64_t kNotStored = 2;  // the column is computed when it is read
  TACHO_ASSIGN_OR_RETURN(SqliteStatement columns,
                         database.Prepare("PRAGMA table_xinfo(" + QuotedName(name) + ")"));
  int position = 0, keys = 0;
  Column* key = nullptr;
  while (table.columns.size() < kMostColumns) {
    TACHO_ASSIGN_OR_RETURN(const bool is_row, columns.Step());
    if (!is_row) break;
    const int64_t hidden = columns.Integer(kHidden);
    if (hidden == 0) {
      const std::string type = UpperCase(columns.Text(kType));
      Column& column = table.columns[std::string(columns.Text(kName))];
      column = {{.position = position, .is_real = IsReal(type)}, !columns.IsNull(kDefault)};
      if (columns.Integer(kKey) > 0) {
        ++keys;
        key = type == "INTEGER" ? &column : nullptr;
      }
    }
    if (hidden != kNotStored) ++position;
  }
  if (keys != 1 || key == nullptr) return {};
  // The key is the rowid, unless it was declared in an unusual way; it then has an index.
  TACHO_ASSIGN_OR_RETURN(SqliteStatement indexes,
                         database.Prepare("PRAGMA index_list(" + QuotedName(name) + ")"));
  constexpr int kOrigin = 3;
  key->in_record.is_rowid = true;
  while (true) {
    TACHO_ASSIGN_OR_RETURN(const bool is_row, indexes.Step());
    if (!is_row) return {};
    if (indexes.Text(kOrigin) == "pk") key->in_record.is_rowid = false;
  }
}

const Schema::Table* Schema::Find(std::string_view table) const {
  const auto found = tables_.find(table);
  return found == tables_.end() ? nullptr : &found->second;
}

bool Schema::Has(std::string_view table, std::string_view column) const {
  const Table* const found = Find(table);
  return found != nullptr && found->columns.contains(column);
}

std::string Schema::Tables(size_t most) const {
  constexpr size_t kLongest = 40;
  std::string text;
  size_t shown = 0;
  for (const auto& [table, columns] : tables_) {
    text += (shown == 0 ? "" : ", ") + (shown == most ? "..." : table.substr(0, kLongest));
    if (shown++ == most) break;
  }
  return text;
}

TableScan::TableScan(SqliteDatabase& database, const Schema& schema, std::string_view table,
                     std::span<const std::string_view> columns)
    : table_(table) {
  const Schema::Table* const in_schema = schema.Find(table);
  if (in_schema == nullptr) return;
  std::string sql = "SELECT rowid";
  for (const std::string_view name : columns) {
    const auto column = in_schema->columns.find(name);
    const bool is_there = column != in_schema->columns.end();
    columns_.push_back(is_there ? column->second.in_record : SqliteColumn());
    sql += ", " + (is_there ? QuotedName(name) : "NULL");
  }
  // The table alone decides whether this class or SQLite reads the rows, and SQLite decodes all
  // columns of a row. So damage ends the scan at the same row, whichever columns are chosen.
  const bool is_plain = std::ranges::none_of(
      in_schema->columns, [](const auto& column) { return column.second.has_default; });
  if (is_plain && database.pages() != nullptr) {
    if (auto leaves = FindLeaves(*database.pages(), in_schema->root)) {
      leaves_ = std::make_shared<const SqliteLeaves>(*std::move(leaves));
      database_pages_ = database.pages();
      direct_.emplace(*database_pages_, leaves_->pages, columns_);
      return;
    }
  }
  for (const auto& [name, column] : in_schema->columns)
    if (std::ranges::find(columns, name) == columns.end()) sql += ", " + QuotedName(name);
  sql += " FROM " + QuotedName(table) + " NOT INDEXED";  // keeps the order of the rowids
  auto prepared = database.Prepare(sql);
  if (prepared) {
    by_sqlite_ = *std::move(prepared);
    slots_.resize(columns.size());
  } else {
    Damaged(prepared.error().message);
  }
}

TableScan::TableScan(const TableScan& whole)
    : table_(whole.table_),
      columns_(whole.columns_),
      leaves_(whole.leaves_),
      database_pages_(whole.database_pages_) {
  direct_.emplace(*database_pages_, std::span<const uint32_t>(), columns_);
}

void TableScan::Restrict(size_t begin, size_t end) {
  direct_->Restart(std::span(leaves_->pages).subspan(begin, end - begin));
  has_last_ = false;
}

bool TableScan::EndOfDirect() {
  if (!damage_.empty()) return false;
  if (!direct_->damage().empty()) return Damaged(direct_->damage());
  return leaves_->damage.empty() ? false : Damaged(leaves_->damage);
}

// Makes a record from what SQLite returns, so that rows from both sources are read in the same way.
bool TableScan::NextOfSqlite() {
  if (!by_sqlite_ || !damage_.empty()) return false;
  const Result<bool> is_row = by_sqlite_->Step();
  if (!is_row) return Damaged(is_row.error().message);
  if (!*is_row) return false;
  using Kind = SqliteSlot::Kind;
  constexpr size_t kBefore = 8;  // see SqliteRow
  record_.assign(kBefore, 0);
  const auto append = [&](Kind kind, const void* bytes, size_t size) {
    const SqliteSlot slot{kind, static_cast<uint32_t>(record_.size() - kBefore),
                          static_cast<uint32_t>(size)};
    const auto* const begin = static_cast<const uint8_t*>(bytes);
    record_.insert(record_.end(), begin, begin + size);
    return slot;
  };
  const auto append_number = [&](Kind kind, uint64_t value) {
    std::array<uint8_t, 8> bytes{};
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(value >> (56 - 8 * i));
    return append(kind, bytes.data(), bytes.size());
  };
  for (size_t i = 0; i < slots_.size(); ++i) {
    const int column = static_cast<int>(i) + 1;
    const int type = by_sqlite_->Type(column);
    if (type == SQLITE_NULL) {
      slots_[i] = {};
    } else if (type == SQLITE_INTEGER) {
      slots_[i] = append_number(Kind::kInteger, static_cast<uint64_t>(by_sqlite_->Integer(column)));
    } else if (type == SQLITE_FLOAT) {
      slots_[i] = append_number(Kind::kReal, std::bit_cast<uint64_t>(by_sqlite_->Real(column)));
    } else {
      const std::string_view text = by_sqlite_->Text(column);
      slots_[i] = append(type == SQLITE_TEXT ? Kind::kText : Kind::kBlob, text.data(), text.size());
    }
  }
  return Take(SqliteRow(by_sqlite_->Integer(0), slots_.data(), record_.data() + kBefore));
}

bool TableScan::Damaged(const std::string& why) {
  damage_ = table_ + (has_last_ ? " after row " + std::to_string(last_) : "") + ": " + why;
  direct_.reset();
  by_sqlite_.reset();
  return false;
}

}  // namespace tacho::nsys
