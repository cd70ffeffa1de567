#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/sqlite_pages.h"

namespace tacho {

// One SQL statement of a database, which must outlive it. Columns and parameters are numbered from
// 0. Values are converted as SQLite does it: NULL gives 0 or "".
class SqliteStatement {
 public:
  // Moves to the next row; false after the last one. After an error or the end, Reset starts the
  // statement again.
  Result<bool> Step();
  void Reset() { sqlite3_reset(handle_.get()); }

  [[nodiscard]] int columns() const { return sqlite3_column_count(handle_.get()); }
  [[nodiscard]] std::string_view ColumnName(int column) const;
  // SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL. Call it before Integer,
  // Real or Text, because these may convert the value.
  [[nodiscard]] int Type(int column) const { return sqlite3_column_type(handle_.get(), column); }
  [[nodiscard]] bool IsNull(int column) const { return Type(column) == SQLITE_NULL; }
  [[nodiscard]] int64_t Integer(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
  }
  [[nodiscard]] double Real(int column) const {
    return sqlite3_column_double(handle_.get(), column);
  }
  // The bytes as they are in the database, valid until the next call of Step, Reset or Text.
  [[nodiscard]] std::string_view Text(int column) const;

  void Bind(int parameter, int64_t value) {
    sqlite3_bind_int64(handle_.get(), parameter + 1, value);
  }
  void Bind(int parameter, std::string_view text);  // copies `text`

  // Whether the statement does not change the database.
  [[nodiscard]] bool is_read_only() const { return sqlite3_stmt_readonly(handle_.get()) != 0; }
  [[nodiscard]] sqlite3_stmt* handle() const { return handle_.get(); }

 private:
  friend class SqliteDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  explicit SqliteStatement(sqlite3_stmt* handle) : handle_(handle) {}

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Whether the file begins like a SQLite database.
bool IsSqliteFile(const std::string& path);

// A connection to a SQLite database, for one thread at a time; other threads may call only
// Interrupt. Schemas are not trusted (SQLITE_DBCONFIG_DEFENSIVE, trusted_schema off).
//
// Errors: kUnreadable for a file that is damaged, cut off or not a database; kUsage for SQL that
// cannot be compiled or fails; kInterrupted after Interrupt, or if the progress callback asks for
// it.
class SqliteDatabase {
 public:
  // Opens a database file as it is, without locks; writes nothing into it or beside it. If the file
  // is incomplete, fails and says what to do: the file is shorter than its header says, is being
  // written (a lock is held), or has a journal or write-ahead log beside it that holds changes.
  // Errors begin with `path`.
  static Result<SqliteDatabase> OpenFile(const std::string& path);
  // Opens a database from the bytes of its file.
  static Result<SqliteDatabase> OfBytes(std::string bytes);
  static Result<SqliteDatabase> InMemory();
  // Opens a file for writing. It must be empty or not exist yet.
  static Result<SqliteDatabase> OfNewFile(const std::string& path);

  // Compiles the first statement of `sql`. `rest`, if not null, gets the text after it. A statement
  // without SQL, such as a comment, has no handle.
  Result<SqliteStatement> Prepare(std::string_view sql, std::string_view* rest = nullptr);
  // Runs all statements of `sql` and discards their rows.
  Result<void> Run(std::string_view sql);

  // Calls `stop` about once per `operations` instructions of SQLite's virtual machine. If `stop`
  // returns true, the statement ends with kInterrupted. An empty `stop` is never called.
  void OnProgress(int operations, std::function<bool()> stop);
  void Interrupt() { sqlite3_interrupt(handle_.get()); }
  // Makes values and rows of more than `bytes` bytes an error.
  void LimitBytes(int bytes) { sqlite3_limit(handle_.get(), SQLITE_LIMIT_LENGTH, bytes); }

  // The pages of a database from OpenFile or OfBytes, as they were when it was opened. Null for
  // other databases, and for those whose rows only SQLite can read.
  [[nodiscard]] const SqlitePages* pages() const { return pages_.get(); }
  // The bytes of this database, as they would be in a file.
  [[nodiscard]] Result<std::string> Bytes() const;

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  static Result<SqliteDatabase> Open(const char* name, int flags);
  void KeepPages(std::optional<SqlitePages> pages);

  // These are on the heap so that they do not move, because SQLite points to them.
  std::unique_ptr<std::function<bool()>> stop_;
  std::unique_ptr<std::string> bytes_;
  std::unique_ptr<const SqlitePages> pages_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace tacho
