#include "launch/launch_registry.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"
#include "control/live/port_owner.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LaunchRegistryTest : public ::testing::Test {
 protected:
  static LaunchRecord Record(const std::string& name, int64_t keeper, int64_t ticks) {
    return {.name = name,
            .engine = "vllm",
            .version = "0.32.0",
            .preset = "light",
            .folder = "/f\xff",
            .url = "http://h:1",
            .begun_unix_s = 5,
            .servers = {{"vllm", "http://h:1", "/log", "/traces", 7, keeper, ticks}}};
  }

  RuntimeFolderForTest folder_;
};

TEST_F(LaunchRegistryTest, KeepsThoseWhoseKeeperRuns) {
  const int64_t own = getpid();
  ASSERT_TRUE(KeepLaunch(Record("runs", own, StartTicksOf(own))));
  ASSERT_TRUE(KeepLaunch(Record("reused-pid", own, StartTicksOf(own) + 1)));
  ASSERT_TRUE(KeepLaunch(Record("gone", 999'999'999, 1)));
  const auto running = RunningLaunches();
  ASSERT_EQ(running.size(), 1);
  EXPECT_EQ(running[0].name, "runs");
  EXPECT_EQ(running[0].servers[0].log, "/log");
  EXPECT_EQ(running[0].begun_unix_s, 5);
  EXPECT_THAT(KeepersOf(running[0]), ElementsAre(own));
  const std::string records = folder_.path() + "/tacho/";
  EXPECT_TRUE(std::filesystem::exists(records + "gone.launch")) << "who asks removes nothing";
  ForgetEndedLaunches();
  EXPECT_FALSE(std::filesystem::exists(records + "gone.launch"));
  EXPECT_FALSE(std::filesystem::exists(records + "reused-pid.launch"));
  EXPECT_TRUE(std::filesystem::exists(records + "runs.launch"));
}

TEST_F(LaunchRegistryTest, ANewLaunchKeepsItsRecord) {
  ASSERT_TRUE(KeepLaunch(Record("vllm", 999'999'999, 1)));
  const std::string path = folder_.path() + "/tacho/vllm.launch";
  {
    const auto taken = TakeLaunchName("vllm", "vllm");
    ASSERT_TRUE(taken) << "the one of that name has ended";
    ASSERT_TRUE(KeepLaunch(Record("vllm", 999'999'999, 2)));
    ForgetEndedLaunches();
    EXPECT_TRUE(std::filesystem::exists(path)) << "the name is held";
  }
  ASSERT_TRUE(KeepLaunch(Record("vllm", getpid(), StartTicksOf(getpid()))));
  ForgetEndedLaunches();
  EXPECT_THAT(RunningLaunches(), testing::SizeIs(1));
}

TEST_F(LaunchRegistryTest, ANameIsTakenOnce) {
  const int64_t own = getpid();
  ASSERT_TRUE(KeepLaunch(Record("runs", own, StartTicksOf(own))));
  ASSERT_TRUE(KeepLaunch(Record("vllm", 999'999'999, 1)));
  const auto why = [](const std::string& name) {
    const auto taken = TakeLaunchName(name, "vllm");
    return taken ? "" : taken.error().message;
  };
  EXPECT_THAT(why("runs"), HasSubstr("runs at http://h:1: tacho launch stop runs"));
  EXPECT_THAT(why("a/b"), HasSubstr("at most"));
  EXPECT_EQ(TakeLaunchName("", "runs")->name, "runs-2");
  {
    const auto first = TakeLaunchName("", "vllm"), second = TakeLaunchName("", "vllm");
    EXPECT_EQ(first->name, "vllm") << "the launch of that name has ended";
    EXPECT_EQ(second->name, "vllm-2") << "the first has not kept its record yet";
    EXPECT_THAT(why("vllm"), HasSubstr("just beginning"));
  }
  EXPECT_EQ(why("vllm"), "");
  std::ofstream(folder_.path() + "/tacho/vllm.launch") << "{";
  EXPECT_THAT(why("vllm"), HasSubstr("unreadable record"));
  EXPECT_EQ(TakeLaunchName("", "vllm")->name, "vllm-2");
}

TEST_F(LaunchRegistryTest, DamagedFilesAreNoLaunches) {
  ASSERT_TRUE(KeepLaunch(Record("a", getpid(), StartTicksOf(getpid()))));
  for (const char* const text : {"", "{", "[]", R"({"name":3})", "\xff"}) {
    std::ofstream(folder_.path() + "/tacho/a.launch") << text;
    EXPECT_THAT(RunningLaunches(), IsEmpty()) << text;
    ForgetEndedLaunches();
    EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/tacho/a.launch")) << "it may run";
  }
}

TEST(LaunchRecord, TargetsAreTheRouterOrAllEngines) {
  LaunchRecord record;
  record.servers = {{"w0", "http://h:1", "/log", "/traces"}, {"w1", "http://h:2", "/log", "/t"}};
  EXPECT_THAT(record.targets(), ElementsAre("http://h:1", "http://h:2"));
  record.servers.push_back({"router", "http://h:3", "/log", ""});
  EXPECT_THAT(record.targets(), ElementsAre("http://h:3"));
}

TEST(CheckLaunchName, IsAFilesName) {
  EXPECT_TRUE(CheckLaunchName("my-task_1.2"));
  for (const std::string& name : {std::string(), std::string("../x"), std::string("a/b"),
                                  std::string("a b"), std::string(".hidden"), std::string(65, 'a')})
    EXPECT_FALSE(CheckLaunchName(name)) << name;
}

}  // namespace
}  // namespace tacho
