#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "io/sqlite.h"
#include "query/queried_trace.h"

namespace tacho {

// SQL over the tables of a run (query_table.h), with the functions of percentiles.h and with
// arg(id, 'name'), which returns an argument of a slice. Read-only: the database is in memory, and
// statements that write, attach a database or load code are refused. Not thread-safe.
//
// A statement fails if a value is larger than 64 MB. If the program has set
// sqlite3_hard_heap_limit64 (a limit of the whole process) to kMostMemory, a statement also fails
// if SQLite needs more memory than that.
class QuerySession {
 public:
  static constexpr int kMostBytesOfValue = 64'000'000;
  static constexpr int64_t kMostMemory = 2'000'000'000;

  // `run` must outlive the session and its statements. `stop` is called about a hundred times a
  // second while a statement runs; if it returns true, the statement ends with kInterrupted. Empty:
  // nothing stops a statement.
  static Result<QuerySession> Open(const QueriedRun& run, std::function<bool()> stop = {});

  // Compiles the first statement of `sql` and removes it from `sql`; nullopt: `sql` has no further
  // statement. kUsage: the SQL is invalid or not allowed.
  Result<std::optional<SqliteStatement>> Next(std::string_view& sql);

  [[nodiscard]] SqliteDatabase& database() { return database_; }

 private:
  explicit QuerySession(SqliteDatabase database) : database_(std::move(database)) {}

  SqliteDatabase database_;
};

// Like SqliteStatement::Step, but fails with kUsage if the statement needs too much memory or makes
// too large a value.
Result<bool> StepWithin(SqliteStatement& statement);

}  // namespace tacho
