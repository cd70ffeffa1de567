#include "text/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

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
    FILE* shell = popen(("printf %s " + ShellWord(text)).c_str(), "r");
    ASSERT_NE(shell, nullptr);
    std::array<char, 1024> read{};
    const size_t size = fread(read.data(), 1, read.size(), shell);
    EXPECT_EQ(pclose(shell), 0);
    EXPECT_EQ(std::string(read.data(), size), text);
  }
}

}  // namespace
}  // namespace tacho
