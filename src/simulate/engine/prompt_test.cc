#include "simulate/engine/prompt.h"

#include <gtest/gtest.h>

namespace tacho::simulate {
namespace {

std::vector<int64_t> Tokens(int64_t first, int64_t count) {
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(first + i);
  return tokens;
}

TEST(PrefixCache, KnowsWholeBlocksFromTheBeginning) {
  PrefixCache cache(100);
  EXPECT_EQ(cache.Match(Tokens(0, 40)), 0);
  EXPECT_EQ(cache.Match(Tokens(0, 40)), 32);
  EXPECT_EQ(cache.Match(Tokens(0, 20)), 16);
  EXPECT_EQ(cache.Match(Tokens(0, 32)), 16);  // the last token is always computed
  EXPECT_EQ(cache.Match(Tokens(1, 40)), 0);
  cache.Clear();
  EXPECT_EQ(cache.Match(Tokens(0, 40)), 0);
}

TEST(PrefixCache, ForgetsTheOldest) {
  PrefixCache cache(4);
  cache.Match(Tokens(0, 64));
  cache.Match(Tokens(1000, 64));
  EXPECT_EQ(cache.Match(Tokens(0, 64)), 0);
}

TEST(Detokenizer, HoldsBackHalfACharacter) {
  Detokenizer detokenizer;
  EXPECT_EQ(detokenizer.Push(96), "");
  EXPECT_EQ(detokenizer.Push(1),
            " \xc3\xa9"
            "cho");
  EXPECT_EQ(detokenizer.Push(1), " cho");
}

TEST(Tokenize, IsTheSameAgainAndInTheVocabulary) {
  const auto tokens = Tokenize("what will this be?", 1000);
  EXPECT_EQ(tokens.size(), 5U);
  EXPECT_EQ(tokens, Tokenize("what will this be?", 1000));
  for (const int64_t token : tokens) EXPECT_LT(token, 1000);
  EXPECT_TRUE(Tokenize("", 1000).empty());
}

}  // namespace
}  // namespace tacho::simulate
