#include "session/run_folder/run_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  FolderForTest parent_;
};

TEST_F(RunFolderTest, TwoOfOneSecondDoNotShare) {
  auto one = RunFolder::Create(parent_.At("deeper"), "tacho-x");
  auto two = RunFolder::Create(parent_.At("deeper"), "tacho-x");
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->path(), parent_.At("deeper/tacho-x"));
  EXPECT_EQ(two->path(), parent_.At("deeper/tacho-x-2"));
}

TEST_F(RunFolderTest, WritesWholeFilesOnly) {
  auto folder = RunFolder::Create(parent_.path(), "r");
  ASSERT_TRUE(folder->Write("metrics/w0.txt", "one"));
  ASSERT_TRUE(folder->Write("metrics/w0.txt", "two"));
  std::ifstream file(folder->In("metrics/w0.txt"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder->In("metrics")), {}), 1);
  fs::create_directory(folder->In("taken"));
  auto failed = folder->Write("taken", "x");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kOutput);
}

TEST_F(RunFolderTest, AFileOfCommandsIsItsOwnersAlone) {
  auto folder = RunFolder::Create(parent_.path(), "r");
  ASSERT_TRUE(folder->Write("commands.sh", "", kForOwner));
  EXPECT_EQ(fs::status(folder->In("commands.sh")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(RunFolderTest, OnlyAnEmptyOneIsTakenAway) {
  auto folder = RunFolder::Create(parent_.path(), "r");
  fs::create_directories(folder->In("traces/w0"));
  ASSERT_TRUE(folder->Write("a", ""));
  folder->RemoveEmpty();
  EXPECT_TRUE(fs::exists(folder->In("a")));
  fs::remove(folder->In("a"));
  folder->RemoveEmpty();
  EXPECT_FALSE(fs::exists(folder->path()));
}

TEST_F(RunFolderTest, AFileInTheWayIsNamed) {
  auto folder = RunFolder::Create(parent_.Write("file", "x"), "r");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ErrorKind::kOutput);
  EXPECT_THAT(folder.error().message,
              testing::AllOf(testing::HasSubstr("/file"), testing::HasSubstr("with --out")));
}

}  // namespace
}  // namespace tacho
