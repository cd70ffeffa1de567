#include "io/sqlite.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

void MakeDatabase(const std::string& path) {
  sqlite3* made = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &made), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(made,
                         "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'one'), (2, NULL), "
                         "(-9000000000000000000, x'00ff')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(made);
}

int64_t CountRows(SqliteDatabase& database) {
  auto statement = database.Prepare("SELECT count(*) FROM t");
  EXPECT_TRUE(statement && *statement->Step());
  return statement->Integer(0);
}

TEST(Sqlite, ReadsRowsAndWritesNothing) {
  const FolderForTest folder;
  const std::string path = folder.path() + "/a b%3f?#.sqlite";
  MakeDatabase(path);
  auto database = SqliteDatabase::OpenFile(path);
  ASSERT_TRUE(database) << database.error().message;
  auto statement = database->Prepare("SELECT a, b FROM t WHERE a < ? AND ifnull(b, '') <> ?");
  ASSERT_TRUE(statement);
  statement->Bind(0, int64_t{5});
  statement->Bind(1, "one");
  EXPECT_TRUE(statement->is_read_only());
  EXPECT_EQ(statement->columns(), 2);
  EXPECT_EQ(statement->ColumnName(1), "b");
  ASSERT_TRUE(*statement->Step());
  EXPECT_EQ(statement->Integer(0), 2);
  EXPECT_TRUE(statement->IsNull(1));
  ASSERT_TRUE(*statement->Step());
  EXPECT_EQ(statement->Integer(0), -9000000000000000000);
  EXPECT_EQ(statement->Text(1), std::string_view("\0\xff", 2));
  EXPECT_FALSE(*statement->Step());

  const auto written = database->Run("DELETE FROM t");
  ASSERT_FALSE(written);
  EXPECT_EQ(CountRows(*database), 3);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path(), path);
    ++files;
  }
  EXPECT_EQ(files, 1U);
}

TEST(Sqlite, TakesBytes) {
  const FolderForTest folder;
  MakeDatabase(folder.path() + "/t");
  std::ifstream in(folder.path() + "/t", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  auto database = SqliteDatabase::OfBytes(bytes);
  ASSERT_TRUE(database);
  EXPECT_EQ(CountRows(*database), 3);
  EXPECT_FALSE(database->Run("DELETE FROM t"));
}

TEST(Sqlite, ReadsADatabaseThatHadAWriteAheadLog) {
  const FolderForTest folder;
  const std::string path = folder.At("t");
  MakeDatabase(path);
  sqlite3* made = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &made), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(made, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(made);
  auto database = SqliteDatabase::OpenFile(path);
  ASSERT_TRUE(database);
  EXPECT_EQ(CountRows(*database), 3);
  std::ifstream in(path, std::ios::binary);
  auto in_memory = SqliteDatabase::OfBytes(std::string((std::istreambuf_iterator<char>(in)), {}));
  ASSERT_TRUE(in_memory);
  EXPECT_EQ(CountRows(*in_memory), 3);
}

TEST(Sqlite, RefusesATextEncodingThatThereIsNot) {
  const FolderForTest folder;
  const std::string path = folder.At("t");
  MakeDatabase(path);
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  bytes[59] = 16;
  std::ofstream(path, std::ios::binary) << bytes;
  const auto file = SqliteDatabase::OpenFile(path), memory = SqliteDatabase::OfBytes(bytes);
  ASSERT_TRUE(!file && !memory);
  EXPECT_EQ(file.error().message, path + ": " + memory.error().message);
  EXPECT_EQ(memory.error().message, "the database is damaged: its text encoding is 16");
}

TEST(Sqlite, NamesWhatIsWrongWithAFile) {
  const FolderForTest folder;
  const std::string path = folder.path() + "/t";
  const auto error = [&] {
    const auto opened = SqliteDatabase::OpenFile(path);
    return opened ? std::string() : opened.error().message;
  };
  EXPECT_NE(error().find("does not exist"), std::string::npos);
  MakeDatabase(path);
  EXPECT_EQ(error(), "");

  std::ofstream(path + "-wal") << "x";
  EXPECT_NE(error().find("wal_checkpoint"), std::string::npos) << error();
  std::filesystem::remove(path + "-wal");
  std::ofstream(path + "-journal") << "x";
  EXPECT_NE(error().find("-journal is left"), std::string::npos) << error();
  std::filesystem::remove(path + "-journal");

  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 1);
  EXPECT_NE(
      error().find("is cut off: " + std::to_string(size - 1) + " bytes of " + std::to_string(size)),
      std::string::npos)
      << error();
  std::filesystem::resize_file(path, 50);
  EXPECT_NE(error().find("has 50 bytes"), std::string::npos) << error();

  std::ofstream(path) << std::string(4096, 'x');
  auto none = SqliteDatabase::OpenFile(path);
  const Result<void> run = none ? none->Run("SELECT * FROM t") : tl::unexpected(none.error());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::kUnreadable) << run.error().message;
}

TEST(Sqlite, SeesTheLockOfAWriter) {
  const FolderForTest folder;
  const std::string path = folder.path() + "/t";
  MakeDatabase(path);
  // A lock is no obstacle to the process that holds it, so a child holds this one.
  int ready[2], done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_start = 0x40000001;
    lock.l_len = 1;
    char byte = ::fcntl(file, F_SETLK, &lock) == 0 ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) == 1) ::close(done[1]), (void)::read(done[0], &byte, 1);
    ::_exit(0);
  }
  char locked = 0;
  ASSERT_EQ(::read(ready[0], &locked, 1), 1);
  EXPECT_EQ(locked, 'y');
  const auto opened = SqliteDatabase::OpenFile(path);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("another program is writing it"), std::string::npos);
  ::close(done[1]);
  ::waitpid(child, nullptr, 0);
  for (const int end : {ready[0], ready[1], done[0]}) ::close(end);
}

TEST(Sqlite, WrongSqlIsUsageAndAnEndlessOneCanBeStopped) {
  auto database = SqliteDatabase::InMemory();
  ASSERT_TRUE(database);
  const auto wrong = database->Prepare("SELEC 1");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::kUsage);

  std::string_view rest;
  const auto comment = database->Prepare("-- nothing", &rest);
  ASSERT_TRUE(comment);
  EXPECT_EQ(comment->handle(), nullptr);
  EXPECT_EQ(rest, "");

  constexpr std::string_view kEndless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  int calls = 0;
  database->OnProgress(1000, [&] { return ++calls == 3; });
  const auto stopped = database->Run(kEndless);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::kInterrupted);
  EXPECT_EQ(calls, 3);
  database->OnProgress(0, {});
  EXPECT_TRUE(database->Run("SELECT 1; SELECT 2;"));
}

}  // namespace
}  // namespace tacho
