#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/nsys_sqlite/table_scan.h"
#include "io/sqlite.h"

namespace tacho::nsys {

// The table StringIds, read one string at a time. It needs no memory if the ids are the rowids, as
// in real exports; otherwise 16 bytes per string.
class NameTable {
 public:
  // `schema` must have the table with its columns id and value. The database must outlive the
  // result.
  static Result<NameTable> Open(SqliteDatabase& database, const Schema& schema);

  // The string with this id, valid until the next call; nullopt if there is none.
  std::optional<std::string_view> Find(int64_t id);
  // Why reading the table first failed: "StringIds: ..."; "" if it did not fail.
  [[nodiscard]] const std::string& damage() const { return damage_; }

 private:
  explicit NameTable(SqliteStatement by_key) : by_key_(std::move(by_key)) {}
  void ReadRows(SqliteDatabase& database, const Schema& schema);

  SqliteStatement by_key_;  // finds a string by its id, or by its rowid if row_of_id_ is set
  std::optional<std::vector<std::pair<int64_t, int64_t>>> row_of_id_;  // (id, rowid), sorted
  std::string damage_;
};

}  // namespace tacho::nsys
