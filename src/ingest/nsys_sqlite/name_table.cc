#include "ingest/nsys_sqlite/name_table.h"

#include <algorithm>
#include <array>

namespace tacho::nsys {

Result<NameTable> NameTable::Open(SqliteDatabase& database, const Schema& schema) {
  const bool is_key = schema.Find("StringIds")->columns.find("id")->second.in_record.is_rowid;
  if (!is_key) {
    // StringIds has no index on `id`, and searching all rows for each name would take minutes. So
    // note the row of each id. This query fails if the table has no rowids; `id` is then its key.
    if (auto by_row = database.Prepare("SELECT value FROM StringIds WHERE rowid = ?")) {
      NameTable names(*std::move(by_row));
      names.ReadRows(database, schema);
      return names;
    }
  }
  TACHO_ASSIGN_OR_RETURN(SqliteStatement by_id,
                         database.Prepare("SELECT value FROM StringIds WHERE id = ?"));
  return NameTable(std::move(by_id));
}

void NameTable::ReadRows(SqliteDatabase& database, const Schema& schema) {
  static constexpr std::array<std::string_view, 1> kId{"id"};
  TableScan rows(database, schema, "StringIds", kId);
  row_of_id_.emplace();
  while (rows.Next()) {
    if (const auto id = rows.Maybe(0)) row_of_id_->emplace_back(*id, rows.row());
  }
  std::ranges::sort(*row_of_id_);
  damage_ = rows.damage();
}

std::optional<std::string_view> NameTable::Find(int64_t id) {
  int64_t key = id;
  if (row_of_id_) {
    const auto row =
        std::ranges::lower_bound(*row_of_id_, id, {}, &std::pair<int64_t, int64_t>::first);
    if (row == row_of_id_->end() || row->first != id) return std::nullopt;
    key = row->second;
  }
  by_key_.Reset();
  by_key_.Bind(0, key);
  const Result<bool> found = by_key_.Step();
  if (!found && damage_.empty()) damage_ = "StringIds: " + found.error().message;
  return found && *found ? std::optional(by_key_.Text(0)) : std::nullopt;
}

}  // namespace tacho::nsys
