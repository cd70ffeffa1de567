#include "launch/command_wrappers.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/folder_for_test.h"
#include "base/words.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string EngineIn(std::string_view line) {
  const std::vector<std::string> words = WordsIn(line);
  const size_t engine = EngineWord(words);
  return engine == words.size() ? "" : words[engine];
}

std::string WrapperRefusal(std::string_view line) {
  const auto checked = CheckWrappers(WordsIn(line));
  return checked ? "" : checked.error().message;
}

TEST(TakeSettings, ThoseBeforeTheProgram) {
  std::vector<std::string> words = WordsIn("A=1 B=x=y env _C= vllm serve m D=1");
  EXPECT_THAT(TakeSettings(words), ElementsAre("A=1", "B=x=y", "_C="));
  EXPECT_THAT(words, ElementsAre("vllm", "serve", "m", "D=1"));
  words = WordsIn("env -u A B=1 vllm serve m");
  EXPECT_THAT(TakeSettings(words), IsEmpty()) << "env's own options stay with it";
  EXPECT_EQ(words.front(), "env");
  words = WordsIn("env PATH=/env/bin vllm serve m");
  EXPECT_THAT(TakeSettings(words), IsEmpty()) << "it finds another vllm";
  EXPECT_TRUE(HasOtherEnvironment(words));
  words = WordsIn("--a=1 m");
  EXPECT_THAT(TakeSettings(words), IsEmpty());
  words = {};
  EXPECT_THAT(TakeSettings(words), IsEmpty());
}

TEST(EngineWord, BelowWrappers) {
  EXPECT_EQ(EngineIn("/env/bin/vllm serve m"), "/env/bin/vllm");
  EXPECT_EQ(EngineIn("numactl -m 0 vllm serve m"), "vllm");
  EXPECT_EQ(EngineIn("numactl -m 0 python3 -u -m vllm.entrypoints.openai.api_server"), "python3");
  EXPECT_EQ(EngineIn("python3.11 /env/bin/vllm serve m"), "python3.11") << "which runs the script";
  EXPECT_EQ(EngineIn("./start.sh --python python3"), "");
  EXPECT_EQ(EngineIn("numactl -m 0 ./start.sh"), "");
  EXPECT_EQ(EngineIn("m --served-model-name serve"), "");
  EXPECT_EQ(EngineIn("m"), "");
  EXPECT_EQ(EngineIn(""), "");
}

TEST(HasOtherEnvironment, OfAWrapper) {
  EXPECT_TRUE(HasOtherEnvironment(WordsIn("uv run vllm serve m")));
  EXPECT_TRUE(HasOtherEnvironment(WordsIn("numactl -N 0 conda run -n x ./start.sh")));
  EXPECT_FALSE(HasOtherEnvironment(WordsIn("numactl -N 0 vllm serve uv")));
}

TEST(RunsElsewhere, InAContainerOrOnAnotherHost) {
  EXPECT_TRUE(RunsElsewhere(WordsIn("docker run --rm image vllm serve m")));
  EXPECT_TRUE(RunsElsewhere(WordsIn("sudo ssh host vllm serve m")));
  EXPECT_FALSE(RunsElsewhere(WordsIn("env A=1 vllm serve docker")));
}

TEST(IsContainer, OfThisHostOrOfADaemon) {
  EXPECT_TRUE(IsContainer("/usr/bin/docker") && IsContainer("apptainer"));
  EXPECT_FALSE(IsContainer("ssh") || IsContainer("docker-compose"));
}

TEST(CheckWrappers, RefusesWhatHidesTheEngine) {
  for (const char* const line : {"bash -c x", "numactl -N 0 sh -c x", "bash -l -c x", "zsh -lc x",
                                 "bash -euo pipefail -c x"})
    EXPECT_THAT(WrapperRefusal(line), HasSubstr("give the command itself, without the shell"))
        << line;
  for (const char* const line :
       {"docker run -p 8000:8000 vllm/vllm-openai --model m", "sudo podman run image",
        "kubectl exec pod -- vllm serve m", "ssh host vllm serve m"})
    EXPECT_THAT(WrapperRefusal(line), HasSubstr("record it: tacho record URL; tacho doctor URL"))
        << line;
  for (const char* const line :
       {"tmux new-session -d vllm serve m", "nohup screen -dmS x vllm serve m", "tmux"})
    EXPECT_THAT(WrapperRefusal(line), HasSubstr("leave it out, with --detach")) << line;
  for (const char* const line : {"vllm bench serve --model m", "uv run vllm bench throughput",
                                 "vllm collect-env", "vllm run-batch -i f"})
    EXPECT_THAT(WrapperRefusal(line), HasSubstr("starts no server: give vllm serve MODEL")) << line;
  for (const char* const line :
       {"bash start.sh -c x", "bash -x start.sh", "sh", "./docker --model m", "vllm serve docker",
        "m --served-model-name ssh", "apptainer exec image vllm serve m", "", "vllm serve bench",
        "conda run -n vllm ./start.sh", "m --name vllm bench"})
    EXPECT_EQ(WrapperRefusal(line), "") << line;
  for (const std::vector<std::string>& quoted :
       {std::vector<std::string>{"vllm serve m --api-key s3cret"},
        {"HF_TOKEN=s3cret vllm serve m"},
        {"nohup", "vllm serve m --port 9"}})
    EXPECT_EQ(CheckWrappers(quoted).error().message,
              "the command is one word in quotes: leave out the quotes");
  EXPECT_FALSE(CheckWrappers({"vllm serve " + std::string(5000, 'm')})) << "too long for a file";
  EXPECT_TRUE(CheckWrappers({"vllm", "serve", "a model"}));
  EXPECT_TRUE(CheckWrappers({"--json={\"a\": 1}"}));
  const FolderForTest folder;
  std::filesystem::create_directory(folder.path() + "/a model");
  EXPECT_TRUE(CheckWrappers({folder.path() + "/a model"}));
}

}  // namespace
}  // namespace tacho
