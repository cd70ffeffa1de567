#include "text/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/subprocess.h"

namespace tacho {
namespace {

TEST(ShellWord, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(ShellWord("run/rank0.json.gz"), "run/rank0.json.gz");
  EXPECT_EQ(ShellWord("KEY=value"), "KEY=value");
  EXPECT_EQ(ShellWord("=ls"), "'=ls'");
  EXPECT_EQ(ShellWord("my run"), "'my run'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(ShellWord, AShellReadsBackEveryByte) {
  std::string every;
  for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
  for (const std::string& text : {every, std::string("$(touch x)`id`"), std::string("a'; id; '"),
                                  std::string("~/*?[a]{b,c}")}) {
    auto shell = Subprocess::Start({.arguments = {"sh", "-c", "printf %s " + ShellWord(text)}});
    ASSERT_TRUE(shell);
    std::array<char, 1024> read{};
    size_t size = 0;
    while (const size_t got = shell->Read(read.data() + size, read.size() - size)) size += got;
    EXPECT_TRUE(shell->Finish());
    EXPECT_EQ(std::string(read.data(), size), text);
  }
}

}  // namespace
}  // namespace tacho
