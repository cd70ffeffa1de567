#include "cli/screen/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/file_descriptor.h"
#include "base/folder_for_test.h"
#include "cli/options/output_file.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

class WriteFilesTest : public testing::Test {
 protected:
  static std::string Content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  size_t Entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  FolderForTest folder_;
};

TEST_F(WriteFilesTest, MakesTheFolderAndReplacesFiles) {
  const std::string folder = folder_.At("a/b");
  ASSERT_TRUE(WriteFiles(folder, {{"x.csv", "1"}, {"y.csv", "2"}}).has_value());
  ASSERT_TRUE(WriteFiles(folder, {{"x.csv", "3"}}).has_value());
  EXPECT_EQ(Content(folder + "/x.csv"), "3");
  EXPECT_EQ(Content(folder + "/y.csv"), "2");
}

TEST_F(WriteFilesTest, LeavesNothingBehindWhenOneFails) {
  // A folder with the name of the second file makes its rename fail.
  folder_.Write("y.csv/in the way", "x");
  const auto result = WriteFiles(folder_.path(), {{"y.csv", "2"}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::kOutput);
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(WriteFilesTest, ChangesNothingWhenALaterOneIsBlocked) {
  folder_.Write("a.csv", "old");
  fs::create_directory(folder_.At("b.csv"));
  const auto result = WriteFiles(folder_.path(), {{"a.csv", "new"}, {"b.csv", "2"}});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, testing::HasSubstr("/b.csv: Is a directory"));
  EXPECT_EQ(Content(folder_.At("a.csv")), "old");
  EXPECT_EQ(Entries(), 2u);
}

TEST_F(WriteFilesTest, WhatFailsTakesTheFoldersThatItMadeAway) {
  const std::string missing = folder_.At("a/b/file");
  EXPECT_TRUE(CheckWritable(missing).has_value());
  EXPECT_EQ(Entries(), 0u);
  // A name that is too long.
  EXPECT_FALSE(WriteFile(folder_.At("a/b/") + std::string(300, 'x'), "1").has_value());
  EXPECT_EQ(Entries(), 0u);
  {
    const auto unfinished = OutputFile::Open(missing, {});
    ASSERT_TRUE(unfinished.has_value());
    EXPECT_EQ(Entries(), 1u);
  }
  EXPECT_EQ(Entries(), 0u);
  EXPECT_TRUE(WriteFile(missing, "1").has_value());
  EXPECT_FALSE(WriteFile(folder_.At("a/c/") + std::string(300, 'x'), "1").has_value());
  EXPECT_EQ(Content(missing), "1");
}

TEST(Complain, MakesEachLineVisible) {
  testing::internal::CaptureStderr();
  Complain(
      "a\x1b[31m\xc2\x9b"
      "b\nsecond");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tacho: a\\x1b[31m\\u009bb\nsecond\n");
}

TEST_F(WriteFilesTest, SaysWhereItCannotWrite) {
  const auto result = WriteFiles(folder_.Write("file", "x"), {{"x.csv", "1"}});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, testing::HasSubstr("/file"));
}

TEST(WriteToReader, AReaderThatWentAwayIsNoFailureButAFullDiskIs) {
  const auto through = [](const FileDescriptor& file) {
    const FileDescriptor saved(dup(STDOUT_FILENO));
    dup2(file.get(), STDOUT_FILENO);
    const auto result = WriteToReader("text");
    dup2(saved.get(), STDOUT_FILENO);
    return result;
  };
  std::signal(SIGPIPE, SIG_IGN);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  FileDescriptor(pipe_ends[0]).Close();
  EXPECT_EQ(through(FileDescriptor(pipe_ends[1])), false);
  const FileDescriptor full(open("/dev/full", O_WRONLY));
  if (!full) GTEST_SKIP() << "no /dev/full here";
  const auto result = through(full);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::kOutput);
}

}  // namespace
}  // namespace tacho
