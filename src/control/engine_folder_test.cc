#include "control/engine_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace tacho {
namespace {

TEST(EngineFolder, IsWhatAnEngineMakesOfTheName) {
  const auto folder = [](const char* named) { return EngineFolder(named, "/srv", "/home/me"); };
  EXPECT_EQ(folder("/traces"), "/traces");
  EXPECT_EQ(folder("/traces/"), "/traces");
  EXPECT_EQ(folder("/a/../traces"), "/traces");
  EXPECT_EQ(folder("/"), "/");
  EXPECT_EQ(folder("traces"), "/srv/traces");
  EXPECT_EQ(folder("./traces/"), "/srv/traces");
  EXPECT_EQ(folder("."), "/srv");
  EXPECT_EQ(folder("~"), "/home/me");
  EXPECT_EQ(folder("~/traces"), "/home/me/traces");
  EXPECT_EQ(folder("a~/b"), "/srv/a~/b");
  EXPECT_EQ(folder("s3://bucket/x"), "s3://bucket/x");
  EXPECT_EQ(folder(""), "");
  EXPECT_EQ(EngineFolder("~/traces", "/srv", ""), "/srv/~/traces");
}

TEST(FolderOfProcess, IsReadFromTheProcessItself) {
  EXPECT_EQ(FolderOfProcess(getpid(), "traces"),
            (std::filesystem::current_path() / "traces").string());
  EXPECT_EQ(FolderOfProcess(-1, "traces"), "traces");
}

}  // namespace
}  // namespace tacho
