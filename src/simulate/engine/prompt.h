#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tacho::simulate {

// A stand-in for a tokenizer: every four bytes of text make a token.
std::vector<int64_t> Tokenize(std::string_view text, int64_t vocabulary);

// Token number `index` of a simulated model's answer. The same prompt gives the same tokens.
int64_t OutputToken(uint64_t prompt_hash, int64_t index, int64_t vocabulary);
// How long the answer gets if nothing limits its tokens.
int64_t NaturalLength(uint64_t prompt_hash);
uint64_t HashOf(const std::vector<int64_t>& tokens);

// Turns tokens into text, one after the other. Some tokens end inside a character; their text comes
// together with that of the next token.
class Detokenizer {
 public:
  std::string Push(int64_t token);

 private:
  bool inside_character_ = false;
};

// Remembers which prefixes of prompts are in the key-value cache, in blocks of 16 tokens.
class PrefixCache {
 public:
  static constexpr size_t kBlock = 16;
  explicit PrefixCache(size_t most_blocks) : most_blocks_(most_blocks) {}

  // Returns how many tokens at the start are cached, then caches all full blocks of `tokens`.
  int64_t Match(const std::vector<int64_t>& tokens);
  void Clear();

  uint64_t queries() const { return queries_; }
  uint64_t hits() const { return hits_; }

 private:
  size_t most_blocks_;
  std::unordered_set<uint64_t> blocks_;
  std::deque<uint64_t> by_age_;
  uint64_t queries_ = 0, hits_ = 0;  // counted in tokens
};

}  // namespace tacho::simulate
