#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "io/sqlite.h"
#include "query/queried_trace.h"

namespace tacho {

// SQL over the tables of a run (query_table.h), with the functions of percentiles.h, and arg(id,
// 'name'), which returns an argument of a slice. Read-only: the database is in memory, and a
// statement that would write, attach or load is refused. For one thread.
//
// Limits: 64 MB for a value, and kMostMemory for SQLite if the program has set this limit, which is
// one of the whole process: sqlite3_hard_heap_limit64. A statement that exceeds them fails.
class QuerySession {
 public:
  static constexpr int kMostBytesOfValue = 64'000'000;
  static constexpr int64_t kMostMemory = 2'000'000'000;

  // `run` must outlive the session and its statements. `stop` is called about a hundred times a
  // second, in scans of the tables too; true ends the running statement with kInterrupted. Empty:
  // never.
  static Result<QuerySession> Open(const QueriedRun& run, std::function<bool()> stop = {});

  // Compiles the first statement of `sql` and removes it from `sql`; nullopt: none is left. kUsage:
  // invalid SQL, or not allowed.
  Result<std::optional<SqliteStatement>> Next(std::string_view& sql);

  [[nodiscard]] SqliteDatabase& database() { return database_; }

 private:
  explicit QuerySession(SqliteDatabase database) : database_(std::move(database)) {}

  SqliteDatabase database_;
};

// The next row, as SqliteStatement::Step; kUsage if the statement needs too much memory.
Result<bool> StepWithin(SqliteStatement& statement);

}  // namespace tacho
