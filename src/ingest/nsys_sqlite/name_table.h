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

// The table StringIds, read string by string. Uses no memory if the ids are the rowids, as in
// exports; else 16 bytes for each string.
class NameTable {
 public:
  // `schema` has the table and its columns id and value. The database outlives the object.
  static Result<NameTable> Open(SqliteDatabase& database, const Schema& schema);

  // The string with this id, valid until the next call; nullopt if no string has it.
  std::optional<std::string_view> Find(int64_t id);
  // The first failure to read the table: "StringIds: ..."; "" if none occurred.
  [[nodiscard]] const std::string& damage() const { return damage_; }

 private:
  explicit NameTable(SqliteStatement by_key) : by_key_(std::move(by_key)) {}
  void ReadRows(SqliteDatabase& database, const Schema& schema);

  SqliteStatement by_key_;  // finds a string by its id, or by its rowid if there is row_of_id_
  std::optional<std::vector<std::pair<int64_t, int64_t>>> row_of_id_;  // (id, rowid), sorted
  std::string damage_;
};

}  // namespace tacho::nsys
