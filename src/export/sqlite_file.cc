#include "export/sqlite_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "export/export_window.h"
#include "io/sqlite.h"
#include "query/table_plan.h"

namespace tacho {
namespace {

constexpr uint64_t kRowsBetweenStops = 4096;

std::string Declaration(const QueryTable& table) {
  std::string columns;
  for (const QueryColumn& column : table.columns) {
    // Ids of slices ascend in the order in which rows are written, so they can be the primary key.
    const bool is_primary = table.name == "slices" && column.role == QueryRole::kKey;
    columns += fmt::format("{}\"{}\" {}{}", columns.empty() ? "" : ", ", column.name, column.type,
                           is_primary ? " PRIMARY KEY" : "");
  }
  return fmt::format("CREATE TABLE \"{}\"({})", table.name, columns);
}

// Makes indexes on the columns that joins and windows use.
std::string Indexes(const QueryTable& table) {
  std::string sql;
  for (const QueryColumn& column : table.columns) {
    const bool is_key = column.role == QueryRole::kKey && table.name != "slices";
    if (!is_key && column.name != "start_ns" && !column.name.ends_with("_id")) continue;
    // Few rows have one, and it is not the id of a slice.
    if (column.name == "external_id") continue;
    sql += fmt::format("CREATE INDEX \"{0}_{1}\" ON \"{0}\"(\"{1}\");", table.name, column.name);
  }
  return sql;
}

void BindText(SqliteStatement& statement, int column, std::string_view text) {
  if (IsUtf8(text)) return statement.Bind(column, text);
  statement.Bind(column, std::string_view(ValidUtf8(text)));
}

void BindValue(SqliteStatement& statement, int column, const QueryValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    statement.Bind(column, *integer);
  } else if (const auto* number = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement.handle(), column + 1, *number);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    BindText(statement, column, *text);
  } else if (const auto* owned = std::get_if<std::string>(&value)) {
    BindText(statement, column, *owned);
  } else {
    sqlite3_bind_null(statement.handle(), column + 1);
  }
}

// Decides which rows of a table overlap the window of their trace.
class InWindow {
 public:
  InWindow(const QueryTable& table, std::span<const Interval> windows)
      : windows_(windows), start_(Find(table, "start_ns")), end_(Find(table, "end_ns")) {}

  // Tells the reader of a table which rows it may skip.
  [[nodiscard]] TablePlan PlanOf(size_t trace) const {
    TablePlan plan;
    plan.trace = static_cast<int64_t>(trace);
    if (start_ == nullptr || end_ == nullptr || windows_[trace] == kAllTime) return plan;
    plan.until = windows_[trace].end.ns;
    plan.ends_from = windows_[trace].start.ns;
    return plan;
  }
  [[nodiscard]] bool Has(const QueryRow& row) const {
    if (start_ == nullptr || end_ == nullptr) return true;
    return TouchesWindow({{Time(*start_, row)}, {Time(*end_, row)}}, windows_[row.trace->number()]);
  }

 private:
  static const QueryColumn* Find(const QueryTable& table, std::string_view name) {
    const auto column = std::ranges::find(table.columns, name, &QueryColumn::name);
    return column == table.columns.end() ? nullptr : &*column;
  }
  static int64_t Time(const QueryColumn& column, const QueryRow& row) {
    const QueryValue value = ValueOf(column, row);
    const auto* const time = std::get_if<int64_t>(&value);
    return time == nullptr ? 0 : *time;
  }

  std::span<const Interval> windows_;
  const QueryColumn *start_, *end_;
};

Result<void> WriteTable(const QueryTable& table, const QueriedRun& run,
                        std::span<const Interval> windows, SqliteDatabase& database,
                        const std::function<bool()>& stop) {
  TACHO_RETURN_IF_ERROR(database.Run(Declaration(table)));
  std::string places(2 * table.columns.size() - 1, '?');
  for (size_t i = 1; i < places.size(); i += 2) places[i] = ',';
  TACHO_ASSIGN_OR_RETURN(
      SqliteStatement insert,
      database.Prepare(fmt::format("INSERT INTO \"{}\" VALUES({})", table.name, places)));
  const InWindow window(table, windows);
  uint64_t written = 0;
  for (size_t trace = 0; trace < run.traces.size(); ++trace) {
    TableReader rows(table, run, stop);
    for (rows.Start(window.PlanOf(trace)); !rows.at_end(); rows.Next()) {
      if (!window.Has(rows.row())) continue;
      for (size_t i = 0; i < table.columns.size(); ++i)
        BindValue(insert, static_cast<int>(i), ValueOf(table.columns[i], rows.row()));
      TACHO_RETURN_IF_ERROR(insert.Step());
      insert.Reset();
      if (++written % kRowsBetweenStops == 0 && stop())
        return Fail(ErrorKind::kInterrupted, "interrupted");
    }
    if (rows.stopped()) return Fail(ErrorKind::kInterrupted, "interrupted");
  }
  return database.Run(Indexes(table));
}

Result<void> WriteTables(const QueriedRun& run, std::span<const Interval> windows,
                         const std::string& path, const std::function<bool()>& stop) {
  TACHO_ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::OfNewFile(path));
  // The journal is in memory. It is not needed on the disk, because an incomplete file is removed.
  // journal_mode=OFF does not work: a defensive connection refuses it.
  TACHO_RETURN_IF_ERROR(database.Run(
      fmt::format("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA application_id={};"
                  "PRAGMA user_version=1; BEGIN",
                  kSqliteApplicationId)));
  for (const QueryTable& table : QueryTables())
    TACHO_RETURN_IF_ERROR(WriteTable(table, run, windows, database, stop));
  return database.Run("COMMIT");
}

}  // namespace

Result<void> WriteSqliteFile(const QueriedRun& run, std::span<const Interval> windows,
                             const std::string& path, const std::function<bool()>& stop) {
  auto written = WriteTables(run, windows, path, stop);
  if (written || written.error().kind == ErrorKind::kInterrupted) return written;
  return Fail(ErrorKind::kOutput, std::move(written.error().message));
}

}  // namespace tacho
