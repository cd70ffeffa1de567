#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "base/secret_names.h"
#include "base/secret_text.h"
#include "base/words.h"

namespace tacho {
namespace {

// Whether the text outside of quotes consists only of JSON's numbers, literals and punctuation.
// "[db] --api-key K" does not.
bool IsJson(std::string_view text) {
  constexpr std::string_view kSigns = "{}[]:,", kBegins = "\"{[";
  constexpr auto kLiterals =
      std::to_array<std::string_view>({"true", "false", "null", "NaN", "Infinity", "-Infinity"});
  if (text.empty() || kBegins.find(text[0]) == std::string_view::npos) return false;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = JsonStringAt(text, at).end + 1;
      if (at > text.size()) return false;
      continue;
    }
    if (kSigns.find(text[at]) != std::string_view::npos ||
        kBlanks.find(text[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    const size_t end = std::min(text.find_first_of("{}[]:,\" \t\r\n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const bool is_number = word.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
    if (!is_number && std::ranges::find(kLiterals, word) == kLiterals.end()) return false;
    at = end;
  }
  return true;
}

// The size in bytes of the first character of `raw`. An escape such as "\n" or "\u00e9" is one
// character, and so is a surrogate pair.
size_t SizeOfCharacter(std::string_view raw) {
  // Bytes; U+FFFD, which stands for half a pair, has 3.
  constexpr size_t kUnit = 6, kLongestOfOne = 3;
  if (raw[0] != '\\') return 1;
  // A character after a backslash that makes no escape with it stands for itself.
  const std::string_view unit = raw.substr(0, kUnit), pair = raw.substr(0, 2 * kUnit);
  if (!unit.starts_with("\\u"))
    return UnescapeJson(raw.substr(0, 2)).size() == 1 ? std::min<size_t>(raw.size(), 2) : 1;
  if (unit.size() < kUnit || UnescapeJson(unit).size() > kLongestOfOne) return 1;
  const bool is_pair = pair.size() == 2 * kUnit && pair.substr(kUnit).starts_with("\\u") &&
                       UnescapeJson(pair).size() == kLongestOfOne + 1;
  return is_pair ? pair.size() : kUnit;
}

// Calls `visit` with each character of a JSON string: its position, its text, and its text with the
// escape resolved.
template <typename Visit>
void ForEachCharacter(std::string_view raw, const Visit& visit) {
  for (size_t at = 0; at < raw.size();) {
    const std::string_view character = raw.substr(at, SizeOfCharacter(raw.substr(at)));
    if (character.size() == 1) {
      visit(at, character, character);
    } else {
      visit(at, character, UnescapeJson(character));
    }
    at += character.size();
  }
}

// Blanks secrets inside a JSON string that has escapes. Looks for them in the unescaped
// text, then blanks whole escapes.
size_t BlankEscaped(std::span<char> bytes) {
  const std::string_view raw(bytes.data(), bytes.size());
  std::string text;
  ForEachCharacter(raw, [&](size_t, std::string_view, std::string_view plain) { text += plain; });
  std::string shown = text;
  const size_t blanked = BlankSecrets(shown);
  if (blanked == 0) return 0;
  size_t i = 0;  // in `text` and in `shown`
  ForEachCharacter(raw, [&](size_t at, std::string_view character, std::string_view plain) {
    if (shown.compare(i, plain.size(), plain) != 0) Blank(bytes, at, at + character.size());
    i += plain.size();
  });
  return blanked;
}

// Goes through the tokens of a JSON text, or of a part of one, and blanks its secrets.
class JsonBlanker {
 public:
  explicit JsonBlanker(std::span<char> json) : bytes_(json), text_(json.data(), json.size()) {}

  // `named`: how HowNamed judges the key of the whole value.
  size_t Run(Named named) {
    std::vector<Named> around;  // by open list or object: what its strings inherit
    Named next = named;
    for (size_t at = 0; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '"') {
        const JsonString string = JsonStringAt(text_, at);
        if (string.is_key) {
          const Named inherited = around.empty() ? Named::kPlain : around.back();
          next = std::max(inherited, HowNamed(Inside(string)));
          option_ = Option::kNone;
        } else {
          BlankString(string, next);
        }
        at = string.end;
      } else if (c == '{' || c == '[') {
        // The names "key" and "token" tell nothing about a list or object: it may be the column of
        // a table in the trace.
        if (next == Named::kMaybe) next = Named::kPlain;
        around.push_back(next);
        option_ = Option::kNone;
      } else if (c == '}' || c == ']') {
        if (!around.empty()) around.pop_back();
        next = around.empty() ? Named::kPlain : around.back();
        option_ = Option::kNone;
      } else if (c == ',') {
        next = around.empty() ? Named::kPlain : around.back();
      }
    }
    return blanked_;
  }

 private:
  [[nodiscard]] std::string_view Inside(const JsonString& string) const {
    return text_.substr(string.begin, string.end - string.begin);
  }

  void BlankString(const JsonString& string, Named named) {
    const std::string_view value = Inside(string);
    const auto part = bytes_.subspan(string.begin, value.size());
    if (value.starts_with('-')) {
      option_ = OptionNamed(value);
    } else if (option_ != Option::kNone) {
      named = Named::kSecret;
      if (option_ == Option::kOneSecret) option_ = Option::kNone;
    }
    const size_t from = BehindScheme(value, 0);
    if (IsSecretValue(named, value.substr(from))) {
      blanked_ += BlankOnce(bytes_, string.begin + from, string.end) ? 1 : 0;
    } else {
      blanked_ +=
          value.find('\\') == std::string_view::npos ? BlankSecrets(part) : BlankEscaped(part);
    }
  }

  std::span<char> bytes_;
  std::string_view text_;
  size_t blanked_ = 0;
  Option option_ = Option::kNone;  // the strings after an option in a list are its values
};

size_t BlankJson(Named named, std::span<char> json) {
  const size_t blanked = JsonBlanker(json).Run(named);
  // In damaged JSON, secrets may also stand outside of quotes.
  return IsJson({json.data(), json.size()}) ? blanked : blanked + BlankSecretsInText(json);
}

}  // namespace

size_t BlankSecrets(std::span<char> text) {
  constexpr size_t kShortest = 8;  // "TOKEN=xy"; a shorter text holds no secret
  if (text.size() < kShortest) return 0;
  if (IsJson({text.data(), text.size()})) return BlankSecretsInJson(text);
  // Blanking may uncover another secret: in "://secret:3/:password@" the slash had hidden it.
  constexpr int kMostPasses = 16;
  size_t blanked = 0;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const size_t more = BlankSecretsInText(text);
    if (more == 0) break;
    blanked += more;
  }
  return blanked;
}

size_t BlankSecretsInJson(std::span<char> json) { return BlankJson(Named::kPlain, json); }

size_t BlankSecretValue(std::string_view key, std::span<char> json) {
  return BlankJson(HowNamed(key), json);
}

}  // namespace tacho
