#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "io/sqlite.h"
#include "query/queried_trace.h"

namespace tacho {

// SQL over the tables of a run (query_table.h), arg(id, 'name'), an argument of a slice, and
// percentiles (percentiles.h). It only reads: the database is in memory, and what would write,
// attach or load is refused. For one thread.
//
// Bounds: a value of 64 MB; 2 GB of memory in SQLite of the whole process, beyond which a statement
// fails.
class QuerySession {
 public:
  static constexpr int kMostBytesOfValue = 64'000'000;
  static constexpr int64_t kMostMemory = 2'000'000'000;

  // `run` must outlive the session and its statements. `stop` is asked a hundred times a second or
  // so, in scans of the tables too; true ends the statement that runs with kInterrupted. Empty:
  // never.
  static Result<QuerySession> Open(const QueriedRun& run, std::function<bool()> stop = {});

  // Compiles the first statement of `sql`, and takes it away from there; nullopt: none is left.
  // kUsage: no SQL, or not allowed.
  Result<std::optional<SqliteStatement>> Next(std::string_view& sql);

  [[nodiscard]] SqliteDatabase& database() { return database_; }

 private:
  explicit QuerySession(SqliteDatabase database) : database_(std::move(database)) {}

  SqliteDatabase database_;
};

// The next row, as SqliteStatement::Step; kUsage if the statement needs too much memory.
Result<bool> StepWithin(SqliteStatement& statement);

}  // namespace tacho
