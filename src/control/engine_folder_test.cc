#include "control/engine_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace tacho {
namespace {

TEST(EngineFolder, IsWhatAnEngineMakesOfTheName) {
  const auto folder = [](const char* named) { return EngineFolder(named, "/work", "/home/me"); };
  EXPECT_EQ(folder("/traces"), "/traces");
  EXPECT_EQ(folder("/traces/"), "/traces");
  EXPECT_EQ(folder("/a/../traces"), "/traces");
  EXPECT_EQ(folder("/"), "/");
  EXPECT_EQ(folder("traces"), "/work/traces");
  EXPECT_EQ(folder("./traces/"), "/work/traces");
  EXPECT_EQ(folder("."), "/work");
  EXPECT_EQ(folder("~"), "/home/me");
  EXPECT_EQ(folder("~/traces"), "/home/me/traces");
  EXPECT_EQ(folder("a~/b"), "/work/a~/b");
  EXPECT_EQ(folder("s3://bucket/x"), "s3://bucket/x");
  EXPECT_EQ(folder(""), "");
  EXPECT_EQ(EngineFolder("~/traces", "/work", ""), "/work/~/traces");
}

TEST(FolderOfProcess, IsReadFromTheProcessItself) {
  EXPECT_EQ(FolderOfProcess(getpid(), "traces"),
            (std::filesystem::current_path() / "traces").string());
  EXPECT_EQ(FolderOfProcess(-1, "traces"), "traces");
}

}  // namespace
}  // namespace tacho
