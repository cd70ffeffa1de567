#include "control/command_options.h"

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

}  // namespace
}  // namespace tacho
