#include "io/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <new>
#include <utility>

#include "io/open_file.h"

namespace tacho {
namespace {

using namespace std::string_view_literals;

Error SqliteError(sqlite3* database, int status) {
  const int code = status & 0xff;
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  const std::string text = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(status);
  switch (code) {
    case SQLITE_INTERRUPT:
      return {ErrorKind::kInterrupted, "interrupted"};
    case SQLITE_NOTADB:
      return {ErrorKind::kUnreadable, "is not a SQLite database: " + text};
    case SQLITE_CORRUPT:
      return {ErrorKind::kUnreadable, "the database is damaged: " + text};
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PERM:
    case SQLITE_TOOBIG:
      return {ErrorKind::kUnreadable, "the database cannot be read: " + text};
    default:
      return {ErrorKind::kUsage, text};
  }
}

// "file:///a%20b?immutable=1" for "/a b". With such a name SQLite takes no locks and looks for no
// journal.
std::string ImmutableUri(std::string_view path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/";
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
  }
  return uri + "?immutable=1";
}

constexpr size_t kHeaderBytes = 100;
constexpr std::string_view kFileHeader = "SQLite format 3\0"sv;  // every database begins with it

uint64_t BigEndian(const unsigned char* bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

// What is wrong with the number of the text encoding in a database's header; "" if SQLite can use
// it. SQLite looks only at its last two bits. If they are 0, SQLite takes the encoding to be
// missing. That is right for 0, in an empty database. For any other number, SQLite's error would
// speak of an attached database that does not exist. (https://www.sqlite.org/fileformat.html,
// section 1.3.13)
std::string WhyNoEncoding(std::string_view database) {
  if (database.size() < kHeaderBytes || !database.starts_with(kFileHeader)) return "";
  const uint64_t encoding = BigEndian(reinterpret_cast<const unsigned char*>(&database[56]), 4);
  if (encoding == 0 || (encoding & 3) != 0) return "";
  return fmt::format("the database is damaged: its text encoding is {}", encoding);
}

// Whether another process holds one of SQLite's locks for writing
// (https://www.sqlite.org/lockingv3.html): PENDING at 1 GiB, RESERVED after it, then 510 bytes of
// SHARED, which a writer locks last.
bool IsBeingWritten(int file) {
  struct flock lock = {};
  lock.l_type = F_RDLCK;  // conflicts only with a writer's lock
  lock.l_whence = SEEK_SET;
  lock.l_start = 0x40000000;
  lock.l_len = 512;
  return ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// Why the file alone does not hold the whole database; "" if it seems to. The fields of the header
// are described in https://www.sqlite.org/fileformat.html, section 1.3.
std::string WhyIncomplete(const std::string& path, const OpenedFile& file) {
  std::array<unsigned char, kHeaderBytes> header{};
  const auto size = static_cast<uint64_t>(file.status.st_size);
  if (::pread(file.file.get(), header.data(), header.size(), 0) !=
      static_cast<ssize_t>(header.size())) {
    return fmt::format("has {} bytes, less than the header of a database: copy or export it again",
                       size);
  }
  if (IsBeingWritten(file.file.get())) {
    return "is locked: another program is writing it; wait until it is done";
  }
  struct stat beside = {};
  if (::stat((path + "-wal").c_str(), &beside) == 0 && beside.st_size > 0) {
    return fmt::format(
        "has changes in {}-wal that are not in it yet: close the program that writes it, or run "
        "sqlite3 on it with 'PRAGMA wal_checkpoint(TRUNCATE)'",
        path);
  }
  if (::stat((path + "-journal").c_str(), &beside) == 0 && beside.st_size > 0) {
    return fmt::format(
        "was being written when its writer stopped ({}-journal is left): export it "
        "again",
        path);
  }
  if (std::string why =
          WhyNoEncoding({reinterpret_cast<const char*>(header.data()), header.size()});
      !why.empty()) {
    return why;
  }
  const uint64_t page = BigEndian(&header[16], 2);
  const uint64_t pages = BigEndian(&header[28], 4);
  const bool count_is_valid = BigEndian(&header[24], 4) == BigEndian(&header[92], 4);
  const uint64_t expected = (page == 1 ? 65536 : page) * pages;
  if (count_is_valid && size < expected) {
    return fmt::format("is cut off: {} bytes of {}; copy or export it again", size, expected);
  }
  return "";
}

}  // namespace

bool IsSqliteFile(const std::string& path) {
  std::array<char, kFileHeader.size()> start{};
  const Result<OpenedFile> opened = OpenForReading(path);
  return opened && S_ISREG(opened->status.st_mode) &&
         ::pread(opened->file.get(), start.data(), start.size(), 0) ==
             static_cast<ssize_t>(start.size()) &&
         std::string_view(start.data(), start.size()) == kFileHeader;
}

Result<bool> SqliteStatement::Step() {
  if (!handle_) return false;
  const int status = sqlite3_step(handle_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  return tl::unexpected<Error>(SqliteError(sqlite3_db_handle(handle_.get()), status));
}

std::string_view SqliteStatement::ColumnName(int column) const {
  const char* const name = sqlite3_column_name(handle_.get(), column);
  return name == nullptr ? std::string_view() : name;
}

std::string_view SqliteStatement::Text(int column) const {
  const void* const text = Type(column) == SQLITE_BLOB ? sqlite3_column_blob(handle_.get(), column)
                                                       : sqlite3_column_text(handle_.get(), column);
  if (text == nullptr) return {};
  return {static_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

void SqliteStatement::Bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(handle_.get(), parameter + 1, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

Result<SqliteDatabase> SqliteDatabase::Open(const char* name, int flags) {
  SqliteDatabase database;
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database.handle_.reset(handle);
  if (status != SQLITE_OK) return tl::unexpected<Error>(SqliteError(handle, status));
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

Result<SqliteDatabase> SqliteDatabase::OpenFile(const std::string& path) {
  TACHO_ASSIGN_OR_RETURN(OpenedFile file, OpenForReading(path));
  if (!S_ISREG(file.status.st_mode)) {
    return FailAt(ErrorKind::kUnreadable, path,
                  "a database is not read from a pipe: save it to a file and name that");
  }
  if (const std::string why = WhyIncomplete(path, file); !why.empty()) {
    return FailAt(ErrorKind::kUnreadable, path, why);
  }
  TACHO_ASSIGN_OR_RETURN(
      SqliteDatabase database,
      WithContext(Open(ImmutableUri(path).c_str(), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI), path));
  database.KeepPages(
      SqlitePages::OfFile(std::move(file.file), static_cast<uint64_t>(file.status.st_size)));
  return database;
}

void SqliteDatabase::KeepPages(std::optional<SqlitePages> pages) {
  if (pages) pages_ = std::make_unique<const SqlitePages>(*std::move(pages));
}

Result<SqliteDatabase> SqliteDatabase::OfBytes(std::string bytes) {
  TACHO_ASSIGN_OR_RETURN(SqliteDatabase database, InMemory());
  // A database in memory has no write-ahead log. If its header says that it uses one, it cannot be
  // opened, so change the header.
  constexpr size_t kWriteVersion = 18, kReadVersion = 19;
  if (bytes.size() > kReadVersion) {
    for (const size_t at : {kWriteVersion, kReadVersion}) {
      if (bytes[at] == 2) bytes[at] = 1;
    }
  }
  database.bytes_ = std::make_unique<std::string>(std::move(bytes));
  std::string& kept = *database.bytes_;
  if (const std::string why = WhyNoEncoding(kept); !why.empty()) {
    return Fail(ErrorKind::kUnreadable, why);
  }
  const auto size = static_cast<sqlite3_int64>(kept.size());
  const int status =
      sqlite3_deserialize(database.handle(), "main", reinterpret_cast<unsigned char*>(kept.data()),
                          size, size, SQLITE_DESERIALIZE_READONLY);
  if (status != SQLITE_OK) {
    return tl::unexpected<Error>(SqliteError(database.handle(), status));
  }
  database.KeepPages(SqlitePages::OfMemory(kept));
  return database;
}

Result<std::string> SqliteDatabase::Bytes() const {
  struct Free {
    void operator()(unsigned char* bytes) const { sqlite3_free(bytes); }
  };
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, Free> bytes(
      sqlite3_serialize(handle_.get(), "main", &size, 0));
  if (!bytes) return Fail(ErrorKind::kUnreadable, "the database cannot be copied");
  return std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<size_t>(size));
}

Result<SqliteDatabase> SqliteDatabase::InMemory() {
  return Open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<SqliteDatabase> SqliteDatabase::OfNewFile(const std::string& path) {
  return Open(path.c_str(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<SqliteStatement> SqliteDatabase::Prepare(std::string_view sql, std::string_view* rest) {
  sqlite3_stmt* handle = nullptr;
  const char* tail = nullptr;
  // SQLite would read only up to the zero byte, again and again.
  if (sql.find('\0') != std::string_view::npos)
    return Fail(ErrorKind::kUsage, "the SQL holds a byte of value 0");
  const int status = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()), 0,
                                        &handle, &tail);
  if (status != SQLITE_OK) return tl::unexpected<Error>(SqliteError(handle_.get(), status));
  if (rest != nullptr) *rest = sql.substr(static_cast<size_t>(tail - sql.data()));
  return SqliteStatement(handle);
}

Result<void> SqliteDatabase::Run(std::string_view sql) {
  while (!sql.empty()) {
    TACHO_ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql, &sql));
    for (bool is_row = true; is_row;) {
      TACHO_ASSIGN_OR_RETURN(is_row, statement.Step());
    }
  }
  return {};
}

void SqliteDatabase::OnProgress(int operations, std::function<bool()> stop) {
  stop_ = stop ? std::make_unique<std::function<bool()>>(std::move(stop)) : nullptr;
  const auto call = [](void* function) -> int {
    return (*static_cast<std::function<bool()>*>(function))() ? 1 : 0;
  };
  sqlite3_progress_handler(handle_.get(), stop_ ? operations : 0, stop_ ? +call : nullptr,
                           stop_.get());
}

}  // namespace tacho
