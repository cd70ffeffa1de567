#include "control/launch/command_options.h"

#include <gmock/gmock.h>

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OptionsOf, EveryFormOfAnOption) {
  const auto options = OptionsOf({"vllm", "serve", "m", "--port", "8000", "--enforce-eager",
                                  "--profiler_config.max_iterations=5", "--", "-O3", "--last"});
  ASSERT_EQ(options.size(), 4U);
  EXPECT_EQ(options[0].name, "port");
  EXPECT_EQ(options[0].value, "8000");
  EXPECT_EQ(options[1].name, "enforce-eager");
  EXPECT_EQ(options[1].value, std::nullopt);
  EXPECT_EQ(options[2].name, "profiler-config.max_iterations");
  EXPECT_EQ(options[2].value, "5");
  EXPECT_EQ(options[3].value, std::nullopt);
  EXPECT_EQ(OptionsOf({"--a=b=c", "--d="})[0].value, "b=c");
  EXPECT_EQ(OptionsOf({"--a=b=c", "--d="})[1].value, "");
  EXPECT_THAT(OptionsOf({}), IsEmpty());
}

TEST(SplitAssignments, TakesThoseBeforeTheProgram) {
  const CommandLine line = SplitAssignments({"A=1", "/usr/bin/env", "_B2=x=y", "vllm", "C=3"});
  EXPECT_THAT(line.environment, ElementsAre("A=1", "_B2=x=y"));
  EXPECT_THAT(line.words, ElementsAre("vllm", "C=3"));
  EXPECT_THAT(SplitAssignments({"1A=1", "vllm"}).environment, IsEmpty());
  EXPECT_THAT(SplitAssignments({"--a=1"}).words, ElementsAre("--a=1"));
  EXPECT_THAT(SplitAssignments({}).words, IsEmpty());
}

TEST(ProgramName, IsTheLastPartOfThePath) {
  EXPECT_EQ(ProgramName("/opt/bin/vllm"), "vllm");
  EXPECT_EQ(ProgramName("vllm"), "vllm");
  EXPECT_EQ(ProgramName(""), "");
}

TEST(IsQuotedCommand, IsAWordThatHoldsAnEnginesCommand) {
  for (const char* const word :
       {"vllm serve", "vllm  bench x", "/bin/vllm serve m", "HF_TOKEN=x vllm serve m",
        "bash -lc 'vllm serve m'", "cd /x;vllm serve m", "(sglang serve m)",
        "python3 -m sglang.launch_server", "exec python3 -m vllm.entrypoints.openai.api_server"})
    EXPECT_TRUE(IsQuotedCommand(word)) << word;
  for (const char* const word :
       {"", "vllm", "sglang.launch_server", "hello vllm x", "a model", "/opt/my vllm/run.sh",
        "{\"a\": \"vllm\"}", "LOGGERS={\"vllm\": \"info\"}", "FILTER=torch|vllm|nccl",
        "OTEL_SERVICE_NAME=vllm (prod)"})
    EXPECT_FALSE(IsQuotedCommand(word)) << word;
}

}  // namespace
}  // namespace tacho
