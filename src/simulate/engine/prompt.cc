#include "simulate/engine/prompt.h"

#include "base/random.h"

namespace tacho::simulate {
namespace {

constexpr size_t kBytesAToken = 4;
constexpr int64_t kPartialCharacter = 97;  // every 97th token ends inside a character

uint64_t Chain(uint64_t hash, uint64_t value) { return HashNumber(hash ^ (value + 0x51ed27U)); }

}  // namespace

std::vector<int64_t> Tokenize(std::string_view text, int64_t vocabulary) {
  std::vector<int64_t> tokens;
  for (size_t at = 0; at < text.size(); at += kBytesAToken) {
    uint64_t value = 0;
    for (const char c : text.substr(at, kBytesAToken)) {
      value = value << 8 | static_cast<unsigned char>(c);
    }
    tokens.push_back(static_cast<int64_t>(HashNumber(value) % static_cast<uint64_t>(vocabulary)));
  }
  return tokens;
}

int64_t OutputToken(uint64_t prompt_hash, int64_t index, int64_t vocabulary) {
  return static_cast<int64_t>(Chain(prompt_hash, static_cast<uint64_t>(index)) %
                              static_cast<uint64_t>(vocabulary));
}

int64_t NaturalLength(uint64_t prompt_hash) {
  return 24 + static_cast<int64_t>(HashNumber(prompt_hash) % 400);
}

uint64_t HashOf(const std::vector<int64_t>& tokens) {
  uint64_t hash = tokens.size();
  for (const int64_t token : tokens) hash = Chain(hash, static_cast<uint64_t>(token));
  return hash;
}

std::string Detokenizer::Push(int64_t token) {
  static constexpr const char* kSyllables[] = {"ta", "cho", "me", "ter", "ra", "ke", "no", "li",
                                               "su", "vi",  "da", "mo",  "pe", "zu", "ar", "en"};
  if (token % kPartialCharacter == kPartialCharacter - 1 && !inside_character_) {
    inside_character_ = true;
    return "";
  }
  std::string text = inside_character_ ? " \xc3\xa9" : " ";
  inside_character_ = false;
  for (auto rest = static_cast<uint64_t>(token); rest > 0; rest /= 16)
    text += kSyllables[rest % 16];
  return text;
}

int64_t PrefixCache::Match(const std::vector<int64_t>& tokens) {
  size_t known = 0;
  bool matches = true;
  uint64_t hash = 0;
  for (size_t block = 0; (block + 1) * kBlock <= tokens.size(); ++block) {
    for (size_t i = 0; i < kBlock; ++i) {
      hash = Chain(hash, static_cast<uint64_t>(tokens[block * kBlock + i]));
    }
    const bool is_new = blocks_.insert(hash).second;
    if (is_new) by_age_.push_back(hash);
    matches = matches && !is_new;
    if (matches) ++known;
  }
  while (by_age_.size() > most_blocks_) {
    blocks_.erase(by_age_.front());
    by_age_.pop_front();
  }
  // At least one token is always computed, because the logits of the last token are needed.
  if (known * kBlock >= tokens.size() && known > 0) --known;
  queries_ += tokens.size();
  hits_ += known * kBlock;
  return static_cast<int64_t>(known * kBlock);
}

void PrefixCache::Clear() {
  blocks_.clear();
  by_age_.clear();
}

}  // namespace tacho::simulate
