#include "simulate/trace/trace_window.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace tacho::simulate {
namespace {

constexpr int64_t kNowNs = 1'000 * kNsPerSecond;

TEST(ReadKinetoConfig, ReadsWhatADaemonSends) {
  const auto order = ReadKinetoConfig(
      "ACTIVITIES_LOG_FILE=/t/x.json\nPROFILE_START_TIME=1003000\n"
      "ACTIVITIES_WARMUP_PERIOD_SECS=1\nACTIVITIES_DURATION_MSECS=2000\n"
      "PROFILE_REPORT_INPUT_SHAPES=true\nPROFILE_PROFILE_MEMORY=false\nPROFILE_WITH_STACK=true\n",
      4711, kNowNs);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->pid, 4711);
  EXPECT_EQ(order->path, "/t/x_4711.json");
  EXPECT_EQ(order->start_unix_ns, kNowNs + 3 * kNsPerSecond);
  EXPECT_EQ(order->duration_ns, 2 * kNsPerSecond);
  EXPECT_TRUE(order->record_shapes);
  EXPECT_FALSE(order->profile_memory);
  EXPECT_TRUE(order->with_stack);
}

TEST(ReadKinetoConfig, RefusesAStartThatItCannotKeep) {
  const auto at = [](int64_t start_ms) {
    return ReadKinetoConfig(
        "ACTIVITIES_LOG_FILE=/t/x.json\nACTIVITIES_WARMUP_PERIOD_SECS=1\n"
        "PROFILE_START_TIME=" +
            std::to_string(start_ms),
        1, kNowNs);
  };
  EXPECT_FALSE(at(999'000));
  EXPECT_FALSE(at(1'001'999));  // needs a second to notice and one to warm up
  EXPECT_TRUE(at(1'002'000));
  EXPECT_EQ(at(0)->start_unix_ns, kNowNs + 2 * kNsPerSecond);
}

TEST(ReadKinetoConfig, ANewTorchWritesOnlyBelowItsFolder) {
  const auto path_of = [](const std::string& file, const std::string& folder) {
    return ReadKinetoConfig("ACTIVITIES_LOG_FILE=" + file + "\n", 7, kNowNs, folder)->path;
  };
  const std::string own = "/tmp/libkineto_activities_7.json";
  EXPECT_EQ(path_of("/data/x.json", ""), "/data/x_7.json");
  EXPECT_EQ(path_of("/data/x.json", "/tmp"), own);
  EXPECT_EQ(path_of("/tmp/x.json", "/tmp"), "/tmp/x_7.json");
  EXPECT_EQ(path_of("/tmp/../data/x.json", "/tmp"), own);
  EXPECT_EQ(path_of("/data/x.json", "/data/"), "/data/x_7.json");
  EXPECT_EQ(path_of("/dataer/x.json", "/data"), own);
}

TEST(ReadKinetoConfig, AsksForNothingWithoutAFile) {
  EXPECT_FALSE(ReadKinetoConfig("", 1, kNowNs));
  EXPECT_FALSE(ReadKinetoConfig("ACTIVITIES_DURATION_MSECS=5\nnonsense\n=\n", 1, kNowNs));
  EXPECT_FALSE(
      ReadKinetoConfig("ACTIVITIES_LOG_FILE=/t/x.json\nACTIVITIES_DURATION_MSECS=-5", 1, kNowNs));
}

}  // namespace
}  // namespace tacho::simulate
