#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tacho::simulate {

// A stand-in for a tokenizer: four bytes of text are a token, and a token has a word.
std::vector<int64_t> Tokenize(std::string_view text, int64_t vocabulary);

// The tokens that a simulated model answers with: the same for the same prompt.
int64_t OutputToken(uint64_t prompt_hash, int64_t index, int64_t vocabulary);
// How long it would answer if nothing but the end of its thought stopped it.
int64_t NaturalLength(uint64_t prompt_hash);
uint64_t HashOf(const std::vector<int64_t>& tokens);

// Turns tokens to text one after the other. Some end inside a character: they have no text of
// their own, the next one brings it.
class Detokenizer {
 public:
  std::string Push(int64_t token);

 private:
  bool inside_character_ = false;
};

// Which beginnings of prompts are in the key-value cache, in blocks of 16 tokens.
class PrefixCache {
 public:
  static constexpr size_t kBlock = 16;
  explicit PrefixCache(size_t most_blocks) : most_blocks_(most_blocks) {}

  // How many tokens at the beginning are known; from now on all of its whole blocks are.
  int64_t Match(const std::vector<int64_t>& tokens);
  void Clear();

  uint64_t queries() const { return queries_; }
  uint64_t hits() const { return hits_; }

 private:
  size_t most_blocks_;
  std::unordered_set<uint64_t> blocks_;
  std::deque<uint64_t> by_age_;
  uint64_t queries_ = 0, hits_ = 0;  // tokens
};

}  // namespace tacho::simulate
