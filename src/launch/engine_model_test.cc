#include "launch/engine_model.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/folder_for_test.h"
#include "base/words.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

// The refusal of a whole command, which is started as it is given; "" if it has a model.
std::string Refusal(std::string_view line) {
  const std::vector<std::string> words = WordsIn(line);
  const auto checked = CheckModel(words, words);
  return checked ? "" : checked.error().message;
}

std::string RefusalOf(std::string_view given, std::string_view made) {
  const auto checked = CheckModel(WordsIn(made), WordsIn(given));
  return checked ? "" : checked.error().message;
}

TEST(CheckModel, TakesEveryPlaceThatTheEngineDoes) {
  for (const char* const line :
       {"vllm serve Qwen/x --port 1", "vllm serve --port 1 Qwen/x", "vllm serve --enforce-eager m",
        "vllm serve --port=1 m --seed 2", "serve m", "vllm serve --model m",
        "numactl -m 0 -N 0 vllm serve Qwen/x --port 1", "sglang serve m --port 1",
        "sglang serve --port 1 --model-path m", "python3 -m sglang.launch_server --model-path m",
        "env/bin/python -m vllm.entrypoints.openai.api_server --port 1 --model=m",
        "python3 -m vllm.entrypoints.cli.main serve m", "./start.sh --port 1", "python3 own.py"})
    EXPECT_EQ(Refusal(line), "") << line;
}

TEST(CheckModel, NamesTheRemedyOfThisCommand) {
  EXPECT_EQ(Refusal("vllm serve --port 1"), "no model: put it first: vllm serve MODEL ...");
  EXPECT_EQ(Refusal("vllm serve"), "no model: put it first: vllm serve MODEL ...");
  const FolderForTest folder;
  const std::string config = folder.path() + "/c.yaml";
  std::ofstream(config) << "port: 1\n";
  EXPECT_EQ(Refusal("vllm serve --config " + config),
            "no model: put it first: vllm serve MODEL ...");
  EXPECT_EQ(Refusal("vllm serve --config " + config + " m"), "");
  EXPECT_THAT(RefusalOf("--config " + config, "vllm serve --config " + config),
              HasSubstr("no model: put it first after --"));
  std::ofstream(config) << "model: m\n";
  EXPECT_EQ(Refusal("vllm serve --config " + config), "");
  EXPECT_EQ(Refusal("serve --host 0.0.0.0 --port 1"), "no model: put it first: serve MODEL ...");
  EXPECT_EQ(Refusal("sglang serve --port 1 m"),
            "no model: add it: sglang serve --model-path MODEL ...");
  EXPECT_EQ(Refusal("numactl -m 0 python3 -m sglang.launch_server --port 1"),
            "no model: add --model-path MODEL");
  // vLLM ignores that word and serves a model of its own choice.
  EXPECT_EQ(Refusal("python3 -m vllm.entrypoints.openai.api_server m --port 1"),
            "no model: add --model MODEL");
}

TEST(CheckModel, ArgumentsAloneHaveItFirst) {
  EXPECT_EQ(RefusalOf("m --port 1", "vllm serve m --port 1"), "");
  EXPECT_EQ(RefusalOf("--config nowhere.yaml", "vllm serve --config nowhere.yaml"), "")
      << "the file is reported with the other findings";
  EXPECT_THAT(RefusalOf("", "vllm serve"), HasSubstr("no model: put it first after --, as in"));
  for (const char* const made :
       {"vllm serve --dtype half", "python3 -m vllm.entrypoints.openai.api_server --dtype half"})
    EXPECT_THAT(RefusalOf("--dtype half", made),
                HasSubstr("no model before the options: put it first after --, as in"));
  // A command that is built for --python.
  EXPECT_EQ(RefusalOf("vllm serve --port 1 m",
                      "python3 -m vllm.entrypoints.openai.api_server --port 1 m"),
            "no model before the options: put it first: vllm serve MODEL ...");
}

}  // namespace
}  // namespace tacho
