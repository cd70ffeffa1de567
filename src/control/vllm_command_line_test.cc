#include "control/vllm_command_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace tacho {
namespace {

TEST(TraceFolderOf, EveryWayToSayIt) {
  EXPECT_EQ(TraceFolderOf({"vllm", "serve", "--profiler-config",
                           R"({"profiler":"torch","torch_profiler_dir":"./t"})"},
                          {}),
            "./t");
  EXPECT_EQ(TraceFolderOf({R"(--profiler-config={"torch_profiler_dir":"/a"})"}, {}), "/a");
  EXPECT_EQ(TraceFolderOf({"--profiler-config.torch_profiler_dir=/b"}, {}), "/b");
  EXPECT_EQ(TraceFolderOf({"--profiler-config.torch_profiler_dir", "/c"}, {}), "/c");
  EXPECT_EQ(TraceFolderOf({"vllm"}, {"A=b", "VLLM_TORCH_PROFILER_DIR=/d"}), "/d");
  EXPECT_EQ(TraceFolderOf({"--profiler-config", "{"}, {}), "");
  EXPECT_EQ(TraceFolderOf({"--profiler-config"}, {}), "");
  EXPECT_EQ(TraceFolderOf({"--profiler-config", R"({"torch_profiler_dir":7})"}, {}), "");
}

TEST(TraceFolderOf, AProcessThatTellsNothing) {
  EXPECT_EQ(TraceFolderOfProcess(getpid()), "");
  EXPECT_EQ(TraceFolderOfProcess(-1), "");
}

}  // namespace
}  // namespace tacho
