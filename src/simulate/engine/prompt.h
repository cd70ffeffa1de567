#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tacho::simulate {

// A stand-in for a tokenizer: every four bytes of text make a token, and every token stands for a
// word.
std::vector<int64_t> Tokenize(std::string_view text, int64_t vocabulary);

// The token at `index` of the answer of a simulated model: the same for the same prompt.
int64_t OutputToken(uint64_t prompt_hash, int64_t index, int64_t vocabulary);
// The length of the answer without a limit of tokens.
int64_t NaturalLength(uint64_t prompt_hash);
uint64_t HashOf(const std::vector<int64_t>& tokens);

// Turns tokens into text one after the other. Some end inside a character: their text comes with
// the next token.
class Detokenizer {
 public:
  std::string Push(int64_t token);

 private:
  bool inside_character_ = false;
};

// Which prefixes of prompts are in the key-value cache, in blocks of 16 tokens.
class PrefixCache {
 public:
  static constexpr size_t kBlock = 16;
  explicit PrefixCache(size_t most_blocks) : most_blocks_(most_blocks) {}

  // How many of the first tokens are cached. Afterwards all whole blocks of `tokens` are cached.
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
