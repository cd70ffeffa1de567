#include "control/launch/config_file.h"

#include <gmock/gmock.h>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;

class WithConfigFileTest : public testing::Test {
 protected:
  std::vector<std::string> Words(const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"vllm", "serve", "m", "--config",
                                      folder_.Write("config.yaml", text)};
    words.insert(words.end(), more.begin(), more.end());
    const auto whole = WithConfigFile(words);
    if (!whole) return {std::string(KindOf(whole.error().id).id)};
    return {whole->begin() + static_cast<std::ptrdiff_t>(words.size()), whole->end()};
  }
  const FolderForTest folder_;
};

TEST_F(WithConfigFileTest, ItsOptionsComeAfterTheWords) {
  EXPECT_THAT(Words("port: 8001\nenforce_eager: true\ntrust-remote-code: false\n"
                    "middleware: [a, b]\nprofiler-config:\n  profiler: torch\n"),
              ElementsAre("--enforce-eager", "--middleware", "a", "b", "--port", "8001",
                          "--profiler-config", R"({"profiler":"torch"})"));
}

TEST_F(WithConfigFileTest, TheCommandLineWins) {
  EXPECT_THAT(Words("port: 8001\nprofiler-config: {profiler: torch}\n",
                    {"--port=8002", "--profiler-config.profiler", "cuda"}),
              ElementsAre());
}

TEST_F(WithConfigFileTest, WhatIsNoConfigurationIsNamed) {
  for (const char* text : {"not: [yaml", "- a\n- b\n", "a: 1\n---\nb: 2\n", "", "word"})
    EXPECT_THAT(Words(text), ElementsAre("config-unreadable")) << text;
  EXPECT_THAT(Words("a: " + std::string(2 << 20, 'x')), ElementsAre("config-unreadable"));
  const auto gone = WithConfigFile({"vllm", "serve", "m", "--config", "/nowhere/config.yaml"});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().subject, "--config /nowhere/config.yaml");
  EXPECT_TRUE(WithConfigFile({"vllm", "serve", "m"}));
}

}  // namespace
}  // namespace tacho
