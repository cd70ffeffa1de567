#include "base/replace_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file_descriptor.h"
#include "base/folder_for_test.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
ptrdiff_t FilesIn(const FolderForTest& folder) {
  return std::distance(fs::directory_iterator(folder.path()), {});
}

TEST(ReplaceFile, PutsNewContentInPlaceOfTheOld) {
  const FolderForTest folder;
  const std::string path = folder.Write("a", "old");
  const std::string content(1 << 20, 'x');
  ASSERT_TRUE(ReplaceFile(path, content, 0600));
  EXPECT_EQ(TextOf(path), content);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(ReplaceFile, TakesNamesAsLongAsTheFileSystemAllows) {
  const FolderForTest folder;
  const std::string path = folder.At(std::string(255, 'n'));
  ASSERT_TRUE(ReplaceFile(path, "new"));
  EXPECT_EQ(TextOf(path), "new");
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(ReplaceFile, SeveralAtOnceInOneFolder) {
  const FolderForTest folder;
  FileBeside one(folder.At("one")), two(folder.At("two"));
  ASSERT_EQ(one.Write("1"), 0);
  ASSERT_EQ(two.Write("2"), 0);
  EXPECT_EQ(two.Commit(), 0);
  EXPECT_EQ(one.Commit(), 0);
  EXPECT_EQ(TextOf(folder.At("one")) + TextOf(folder.At("two")), "12");
  EXPECT_EQ(FilesIn(folder), 2);
}

TEST(ReplaceFile, LeavesNothingWhenItFails) {
  const FolderForTest folder;
  fs::create_directory(folder.At("taken"));
  const auto replaced = ReplaceFile(folder.At("taken"), "x");
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().kind, ErrorKind::kOutput);
  EXPECT_EQ(replaced.error().message, folder.At("taken") + ": Is a directory");
  EXPECT_FALSE(ReplaceFile(folder.At("missing/a"), "x"));
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(FileBeside, ChangesNothingBeforeCommit) {
  const FolderForTest folder;
  const std::string path = folder.Write("a", "old");
  {
    FileBeside file(path);
    EXPECT_EQ(file.Write("new"), 0);
    EXPECT_EQ(TextOf(path), "old");
    EXPECT_EQ(FilesIn(folder), 2);
  }
  EXPECT_EQ(TextOf(path), "old");
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(WriteAll, GivesTheReason) {
  const FileDescriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  EXPECT_EQ(WriteAll(full.get(), "x"), ENOSPC);
}

}  // namespace
}  // namespace tacho
