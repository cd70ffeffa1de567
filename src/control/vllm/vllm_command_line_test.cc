#include "control/vllm/vllm_command_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "control/live/engine_answers.h"

namespace tacho {
namespace {

std::string FolderOf(const std::vector<std::string>& words,
                     const std::vector<std::string>& environment = {}) {
  ProfilerFacts facts;
  ReadProfilerConfig(ProfilerConfigOf(words, environment), facts);
  return facts.folder.value_or("");
}

TEST(ProfilerConfigOf, EveryWayToConfigureIt) {
  EXPECT_EQ(FolderOf({"vllm", "serve", "--profiler-config",
                      R"({"profiler":"torch","torch_profiler_dir":"./t"})"}),
            "./t");
  EXPECT_EQ(FolderOf({R"(--profiler-config={"torch_profiler_dir":"/a"})"}), "/a");
  EXPECT_EQ(FolderOf({"--profiler-config.torch_profiler_dir=/b"}), "/b");
  EXPECT_EQ(FolderOf({"--profiler-config.torch_profiler_dir", "/c"}), "/c");
  EXPECT_EQ(FolderOf({"vllm"}, {"A=b", "VLLM_TORCH_PROFILER_DIR=/d"}), "/d");
  EXPECT_EQ(FolderOf({"--profiler-config", "{"}), "");
  EXPECT_EQ(FolderOf({"--profiler-config"}), "");
  EXPECT_EQ(FolderOf({"--profiler-config", R"({"torch_profiler_dir":7})"}), "");
  EXPECT_EQ(ProfilerConfigOf({"vllm"}, {"A=b", "EMPTY=", ""}), "");
}

TEST(ProfilerConfigOf, AlsoOtherSettings) {
  ProfilerFacts facts;
  facts.ignore_frontend = true;  // already known: the server's own report wins
  ReadProfilerConfig(
      ProfilerConfigOf({"--profiler-config", R"({"profiler":"torch","torch_profiler_dir":"/a",
                        "torch_profiler_with_stack":true,"ignore_frontend":false,
                        "max_iterations":5})"},
                       {}),
      facts);
  EXPECT_EQ(facts.kind, "torch");
  EXPECT_EQ(facts.with_stack, true);
  EXPECT_EQ(facts.max_iterations, 5);
  EXPECT_EQ(facts.ignore_frontend, true);
  ProfilerFacts old;
  ReadProfilerConfig(ProfilerConfigOf({}, {"VLLM_TORCH_PROFILER_WITH_STACK=0"}), old);
  EXPECT_EQ(old.with_stack, false);
}

// As vLLM 0.32's own parser does it.
TEST(ProfilerConfigOf, DottedOptionsReplaceTheJson) {
  ProfilerFacts facts;
  ReadProfilerConfig(ProfilerConfigOf({"--profiler-config", R"({"torch_profiler_dir":"/a"})",
                                       "--profiler-config.max_iterations=5",
                                       "--profiler_config.torch_profiler_with_stack", "False"},
                                      {}),
                     facts);
  EXPECT_EQ(facts.max_iterations, 5);
  EXPECT_EQ(facts.with_stack, false);
  EXPECT_EQ(facts.folder, std::nullopt);
  EXPECT_EQ(FolderOf({"--profiler-conf", R"({"torch_profiler_dir":"/a"})"}), "/a");
  EXPECT_EQ(FolderOf({"--profiler-config", R"({"torch_profiler_dir":"/a"})", "--profiler-config",
                      R"({"torch_profiler_dir":"/b"})"}),
            "/b")
      << "the last one wins";
  EXPECT_TRUE(ProfilerArgumentOf({"vllm", "--profiler-config", "--port", "1"}).lacks_value);
  EXPECT_TRUE(ProfilerArgumentOf({"vllm", "--prof", "x", "-O3", "--"}).empty());
}

TEST(ProfilerConfigOf, AProcessWithoutAConfiguration) {
  EXPECT_EQ(ProfilerConfigOfProcess(getpid()), "");
  EXPECT_EQ(ProfilerConfigOfProcess(-1), "");
}

}  // namespace
}  // namespace tacho
