#include "launch/engine_program.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EngineProgramTest : public ::testing::Test {
 protected:
  EngineProgramTest() : path_(std::getenv("PATH")) { setenv("PATH", folder_.path().c_str(), 1); }
  ~EngineProgramTest() override { setenv("PATH", path_.c_str(), 1); }

  std::string Program(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), 0755);
    return path;
  }

  FolderForTest folder_;

 private:
  const std::string path_;
};

TEST(OptionValue, TheLastOneWins) {
  const std::vector<std::string> words{"serve", "--port", "1", "--host=::", "--port=2", "--x"};
  EXPECT_EQ(OptionValue(words, {"--port"}), "2");
  EXPECT_EQ(OptionValue(words, {"-h", "--host"}), "::");
  EXPECT_EQ(OptionValue(words, {"--x"}), std::nullopt) << "without a value";
  EXPECT_EQ(OptionValue(words, {"--por"}), std::nullopt);
}

TEST_F(EngineProgramTest, AModelForTheInstalledEngine) {
  const std::string python = Program("python3", "");
  const std::string vllm = Program("vllm", "#!" + python + "\nimport vllm\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"serve", "org/model", "--seed", "1"},
        std::vector<std::string>{"org/model", "--seed", "1"}}) {
    const auto found = FindEngineProgram(EngineKind::kVllm, "", words);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_THAT(found->command, ElementsAre(vllm, "serve", "org/model", "--seed", "1"));
    EXPECT_EQ(found->python, python);
  }
  const auto sglang = FindEngineProgram(EngineKind::kSglang, "", {"org/model"});
  ASSERT_TRUE(sglang);
  EXPECT_THAT(sglang->command,
              ElementsAre(python, "-m", "sglang.launch_server", "--model-path", "org/model"));
}

TEST_F(EngineProgramTest, ThePythonOfAnEnvironment) {
  const std::string python = Program("python3.11", "");
  const auto found = FindEngineProgram(EngineKind::kVllm, python, {"--model", "m"});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->command,
              ElementsAre(python, "-m", "vllm.entrypoints.openai.api_server", "--model", "m"));
  EXPECT_THAT(FindEngineProgram(EngineKind::kVllm, "/no/python", {"m"}).error().message,
              HasSubstr("no such program"));
}

TEST_F(EngineProgramTest, AScriptIsNoPython) {
  const std::string python = Program("python3", "");
  const std::string vllm = Program("vllm", "#!" + python + "\n");
  EXPECT_EQ(FindEngineProgram(EngineKind::kVllm, vllm, {"m"}).error().message,
            "--python " + vllm + ": it is not a Python interpreter: give " + python);
  // If a program's first lines do not show that it is no Python, its answer does.
  const std::string other = Program("other", "#!/bin/sh\necho unknown option -c >&2; exit 2\n");
  EXPECT_EQ(AskEngineVersion(EngineKind::kVllm, other, {}).error().message,
            "--python " + other + ": it is not a Python interpreter: give " + python);
  const std::string alias = Program("py", "#!/bin/sh\necho 0.32.0\n");
  EXPECT_TRUE(FindEngineProgram(EngineKind::kVllm, alias, {"m"}));
  EXPECT_EQ(AskEngineVersion(EngineKind::kVllm, alias, {}).value(), "0.32.0");
}

TEST_F(EngineProgramTest, AWholeCommand) {
  const std::string python = Program("python3", "");
  const auto found = FindEngineProgram(EngineKind::kSglang, "", {python, "-P", "launcher.py"});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->command, ElementsAre(python, "-P", "launcher.py"));
  EXPECT_EQ(found->python, python);
}

TEST_F(EngineProgramTest, AWholeCommandBelowAWrapper) {
  using Words = std::vector<std::string>;
  const std::string python = Program("python3", "");
  const std::string own = Program("python3.11", "");
  const std::string other = Program("python3.12", "");
  Program("vllm", "#!" + own + "\n");
  Program("numactl", "");
  // conda is a Python script itself.
  Program("conda", "#!" + other + "\n");
  const auto python_of = [](const Words& words) {
    const auto found = FindEngineProgram(EngineKind::kVllm, "", words);
    if (!found) return found.error().message;
    EXPECT_EQ(found->command, words);
    return found->python;
  };
  EXPECT_EQ(python_of({"numactl", "-m", "0", "vllm", "serve", "m"}), own);
  EXPECT_EQ(python_of({"numactl", "-m", "0", "python3", "-m", "vllm.x", "--model", "m"}), python);
  EXPECT_EQ(python_of({"conda", "run", "-n", "x", "vllm", "serve", "m"}), "");
  EXPECT_EQ(python_of({"numactl", "-N", "0", "./start.sh"}), "");
  EXPECT_THAT(python_of({"docker", "run", "image", "--model", "m"}),
              HasSubstr("would not reach the engine"));
}

TEST_F(EngineProgramTest, AWholeCommandOfAMissingProgramIsNoModel) {
  Program("python3", "");
  EXPECT_EQ(FindEngineProgram(EngineKind::kVllm, "", {"numactl", "-m", "0", "vllm", "serve", "m"})
                .error()
                .message,
            "numactl: there is no such program");
  EXPECT_TRUE(FindEngineProgram(EngineKind::kVllm, "", {"m", "--served-model-name", "serve"}));
}

TEST_F(EngineProgramTest, AWholeCommandOfAnotherEngine) {
  using Words = std::vector<std::string>;
  Program("python3", "");
  Program("vllm", "");
  const auto refusal = [](EngineKind kind, const Words& words) {
    const auto found = FindEngineProgram(kind, "", words);
    return found ? "" : found.error().message;
  };
  for (const Words& words : {Words{"vllm", "serve", "m"}, Words{"nohup", "vllm", "serve", "m"},
                             Words{"python3", "-m", "vllm.entrypoints.openai.api_server"}})
    EXPECT_THAT(refusal(EngineKind::kSglang, words),
                HasSubstr("starts vllm: tacho launch vllm -- ..., or tacho record --launch vllm"));
  EXPECT_THAT(refusal(EngineKind::kVllm, {"python3", "-m", "sglang.launch_server"}),
              HasSubstr("starts sglang"));
  for (const Words& words : {Words{"python3", "-m", "sglang.launch_server", "--model-path", "vllm"},
                             Words{"vllm"}, Words{"python3", "run_vllm.py", "serve"}})
    EXPECT_EQ(refusal(EngineKind::kSglang, words), "");
}

TEST_F(EngineProgramTest, AWholeCommandBesidePython) {
  using Words = std::vector<std::string>;
  const std::string python = Program("python3", "");
  const std::string own = Program("own", "#!" + python + "\n");
  const auto command = [&](EngineKind kind, const Words& words) {
    const auto found = FindEngineProgram(kind, python, words);
    return found ? found->command : Words{found.error().message};
  };
  for (const bool is_installed : {false, true}) {
    if (is_installed) Program("vllm", "#!" + own + "\n");
    EXPECT_THAT(command(EngineKind::kVllm, {"vllm", "serve", "m"}),
                ElementsAre(python, "-m", "vllm.entrypoints.openai.api_server", "--model", "m"));
  }
  EXPECT_THAT(command(EngineKind::kSglang, {"sglang", "serve", "--model-path", "m"}),
              ElementsAre(python, "-m", "sglang.launch_server", "--model-path", "m"));
  EXPECT_THAT(command(EngineKind::kSglang, {"python3", "-m", "sglang.launch_server", "--tp", "2"}),
              ElementsAre(python, "-m", "sglang.launch_server", "--tp", "2"));
  EXPECT_THAT(command(EngineKind::kVllm, {own, "--port", "1"}),
              ElementsAre(HasSubstr("leave out --python")));
}

TEST_F(EngineProgramTest, APackageWithoutAScript) {
  const std::string python = Program("python3", "");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"m"}, std::vector<std::string>{"vllm", "serve", "m"}}) {
    const auto found = FindEngineProgram(EngineKind::kVllm, "", words);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_THAT(found->command,
                ElementsAre(python, "-m", "vllm.entrypoints.openai.api_server", "--model", "m"));
    EXPECT_EQ(found->python, python);
  }
}

TEST_F(EngineProgramTest, WhatIsNotInstalledIsNamedWithTheRemedy) {
  for (const EngineKind kind : {EngineKind::kVllm, EngineKind::kSglang}) {
    const auto found = FindEngineProgram(kind, "", {"org/model"});
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message, HasSubstr("--python"));
  }
}

TEST_F(EngineProgramTest, ScriptsOfPipAndWithLongPaths) {
  const std::string python = Program("python3", "");
  EXPECT_EQ(PythonOfScript(Program("a", "#!" + python + " -I\n")), python);
  EXPECT_EQ(PythonOfScript(Program("b", "#!/usr/bin/env python3\n")), python);
  EXPECT_EQ(PythonOfScript(Program("c", "#!/bin/sh\n'''exec' \"" + python + "\" \"$0\" \"$@\"\n")),
            python);
  EXPECT_EQ(PythonOfScript(Program("d", "#!/bin/sh\necho\n")), "");
  EXPECT_EQ(PythonOfScript(Program("e",
                                   "\x7f"
                                   "ELF")),
            "");
}

TEST_F(EngineProgramTest, AsksForTheVersion) {
  const std::string python = Program("python3", "#!/bin/sh\necho 0.32.0\n");
  EXPECT_EQ(AskEngineVersion(EngineKind::kVllm, python, {}).value(), "0.32.0");
  const std::string without = Program("python3.12", "#!/bin/sh\n");
  EXPECT_THAT(AskEngineVersion(EngineKind::kVllm, without, {}).error().message,
              HasSubstr("vllm is not installed for " + without));
  const std::string broken = Program("python3.13", "#!/bin/sh\nexit 1\n");
  EXPECT_EQ(AskEngineVersion(EngineKind::kVllm, broken, {}).value(), "");
  EXPECT_EQ(AskEngineVersion(EngineKind::kVllm, "", {}).value(), "");
}

}  // namespace
}  // namespace tacho
