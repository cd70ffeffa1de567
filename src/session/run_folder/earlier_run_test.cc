#include "session/run_folder/earlier_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

class EarlierRuns : public testing::Test {
 protected:
  // Adds a run next to the others. It ended `hour` hours after the first.
  void Add(const std::string& name, int hour, const std::string& model, int proven = 1,
           const std::string& engine = "vllm") {
    const std::string folder = parent_.path() + "/" + name;
    std::filesystem::create_directories(folder);
    const std::string file = folder + "/run.json";
    std::ofstream(file) << fmt::format(
        R"({{"proof": {{"proven": {}}}, "workers": [{{"engine": "{}", "model": "{}"}}]}})", proven,
        engine, model);
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type(std::chrono::hours(400'000 + hour)));
  }
  std::string Of(const std::string& name) {
    const std::string folder = parent_.path() + "/" + name;
    const auto own = KeptRecordingOf(RunJsonFor(folder));
    EXPECT_TRUE(own) << name;
    const std::string found = EarlierRun(folder, own.value_or(KeptRecording()));
    return std::filesystem::path(found).filename().string();
  }

  const FolderForTest parent_;
};

TEST_F(EarlierRuns, IsTheNewestOfTheSameEngineModelAndLoad) {
  Add("now", 9, "m");
  EXPECT_EQ(Of("now"), "");
  Add("before", 2, "m");  // renamed by hand
  Add("tacho-1", 1, "m");
  EXPECT_EQ(Of("now"), "before");
  EXPECT_EQ(Of("now/"), "before");
  Add("other-model", 3, "n");
  Add("other-engine", 4, "m", 1, "sglang");
  Add("failed", 5, "m", 0);
  std::filesystem::create_directories(parent_.path() + "/cut-short/traces");
  std::ofstream(parent_.path() + "/results.json") << "{}";
  EXPECT_EQ(Of("now"), "before");
  Add("again", 6, "m");
  EXPECT_EQ(Of("now"), "again");
  const std::string plan = R"({"arrivals": "users", "concurrency": 8,)";
  std::ofstream(parent_.path() + "/again/plan.json") << plan << '\n';
  EXPECT_EQ(Of("now"), "before");
  std::ofstream(parent_.path() + "/now/plan.json") << plan << '\n';
  EXPECT_EQ(Of("now"), "again");
}

TEST_F(EarlierRuns, LooksAtAFewFolders) {
  Add("now", 99, "m");
  Add("long-ago", 0, "m");
  for (int i = 1; i <= 15; ++i) Add(fmt::format("other{}", i), i, "n");
  EXPECT_EQ(Of("now"), "long-ago");
  Add("other16", 16, "n");
  EXPECT_EQ(Of("now"), "");
}

TEST_F(EarlierRuns, AFolderWithoutNeighboursHasNone) {
  EXPECT_EQ(EarlierRun(parent_.path() + "/gone/now", {}), "");
  EXPECT_EQ(EarlierRun("/", {}), "");
}

}  // namespace
}  // namespace tacho
