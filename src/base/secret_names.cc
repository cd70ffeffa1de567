#include "base/secret_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/words.h"

namespace tacho {
namespace {

constexpr auto kSecretWords = std::to_array<std::string_view>(
    {"authorization", "cookie", "cookies", "credential", "credentials", "passphrase", "passwd",
     "password", "passwords", "pwd", "secret", "secrets"});
// The words "token" and "key" mean a secret only if one of these words stands before them:
// "api_key", "accesskey", "hf_token". Most other tokens and keys belong to a model, a table or a
// cache.
constexpr auto kOwners = std::to_array<std::string_view>(
    {"access", "account", "admin", "api", "auth", "bot", "client", "encryption", "hf", "hub",
     "master", "private", "refresh", "security", "service", "session", "signing", "ssh"});
constexpr auto kOfModels =
    std::to_array<std::string_view>({"bos", "cls", "eos", "last", "mask", "max", "new", "next",
                                     "pad", "sep", "special", "stop", "unk"});
// If the last word of a name is one of these, the value only tells something about a secret.
constexpr auto kAboutIt =
    std::to_array<std::string_view>({"count", "dir", "enabled", "file", "folder", "len", "length",
                                     "name", "names", "optional", "path", "size", "ttl", "type"});
constexpr auto kHints = std::to_array<std::string_view>(
    {"auth", "cookie", "credential", "key", "pass", "pwd", "secret", "token", "webhook"});

template <size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

// Splits a name into words: "hfToken", "HF_TOKEN" and "hf-token" give "hf" and "token". Numbers at
// the end are left out.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_word = IsLetter(c) || IsDigit(c);
    const bool begins = is_word && IsUpper(c) && i > 0 && !IsUpper(name[i - 1]);
    if ((!is_word || begins) && !words.back().empty()) words.emplace_back();
    if (is_word) words.back() += AsciiLower(c);
  }
  while (!words.empty() && std::ranges::all_of(words.back(), IsDigit)) words.pop_back();
  return words;
}

// Whether a word means a secret; also true for words such as "dbpassword".
bool IsSecretWord(std::string_view word) {
  return IsOneOf(word, kSecretWords) || word.ends_with("password") || word.ends_with("secret");
}

// Whether a word is "token", "tokens", "key" or "keys".
bool IsKeyWord(std::string_view word) {
  if (word.ends_with('s')) word.remove_suffix(1);
  return word == "token" || word == "key";
}

// Whether a word is such a key word joined with its owner: "hftoken", "apikeys".
bool IsOwnedKeyWord(std::string_view word) {
  const size_t at = std::min(word.rfind("token"), word.rfind("key"));
  return at != word.npos && IsKeyWord(word.substr(at)) && IsOneOf(word.substr(0, at), kOwners);
}

// Judges a name whose last word means a token or key and has none of kOwners before it.
Named HowEnds(const std::vector<std::string>& words, bool is_variable) {
  const std::string& last = words.back();
  if (words.size() == 1) return last == "token" || last == "key" ? Named::kMaybe : Named::kPlain;
  if (IsOneOf(words[words.size() - 2], kOfModels)) return Named::kPlain;
  if (last == "token") return is_variable ? Named::kSecret : Named::kMaybe;
  return is_variable ? Named::kMaybe : Named::kPlain;
}

}  // namespace

Named HowNamed(std::string_view name) {
  constexpr size_t kShortest = 3, kLongest = 100;
  if (name.size() < kShortest || name.size() > kLongest) return Named::kPlain;
  const std::vector<std::string> words = WordsOf(name);
  if (words.empty() || IsOneOf(words.back(), kAboutIt)) return Named::kPlain;
  const std::string& last = words.back();
  if (words.size() == 1 && (last == "pwd" || last == "auth" || last == "bearer")) {
    return Named::kMaybe;  // the environment variable PWD is a folder
  }
  // In the name of an environment variable the key word may also stand in the middle:
  // "HF_TOKEN_PROD".
  const bool is_variable =
      std::ranges::none_of(name, [](char c) { return IsLetter(c) && !IsUpper(c); });
  for (size_t i = 0; i < words.size(); ++i) {
    if (IsSecretWord(words[i]) || IsOwnedKeyWord(words[i])) return Named::kSecret;
    if (i > 0 && IsKeyWord(words[i]) && IsOneOf(words[i - 1], kOwners) &&
        (is_variable || i + 1 == words.size())) {
      return Named::kSecret;
    }
  }
  if (words.front() == "x" && last == "signature") return Named::kSecret;  // "X-Amz-Signature"
  return IsKeyWord(last) ? HowEnds(words, is_variable) : Named::kPlain;
}

bool LooksLikeKey(std::string_view value) {
  constexpr size_t kLeast = 8, kMost = 512;
  if (value.size() < kLeast || value.size() > kMost || !(IsLetter(value[0]) || IsDigit(value[0]))) {
    return false;
  }
  bool mixes = false;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (!IsLetter(c) && !IsDigit(c) &&
        std::string_view("_-+/=~.").find(c) == std::string_view::npos)
      return false;
    if (i == 0) continue;
    const char before = value[i - 1];
    mixes = mixes || (IsLetter(c) && IsDigit(before)) || (IsDigit(c) && IsLetter(before));
  }
  return mixes;
}

bool MayHoldSecret(std::string_view variable) {
  const std::string lower = AsciiLowered(variable);
  const auto holds = [&](std::string_view hint) { return lower.find(hint) != lower.npos; };
  return HowNamed(variable) != Named::kPlain ||
         (!holds("tokenizer") && std::ranges::any_of(kHints, holds));
}

}  // namespace tacho
