#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Lines, words and letters of plain ASCII text, independent of the locale.

namespace tacho {

inline constexpr std::string_view kBlanks = " \t\r\n";

constexpr char AsciiLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLetter(char c) { return AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z'; }

// The value of a hexadecimal digit; -1 for any other character.
constexpr int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = AsciiLower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

inline std::string AsciiLowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = AsciiLower(c);
  return lower;
}

// `text` without blanks at its ends.
constexpr std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Removes the first line from `text` and returns it without its line feed. `text` must not be
// empty.
constexpr std::string_view TakeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// Removes the first word of `text`, and the blanks before and after it, from `text`. Returns the
// word; "" if no word is left.
constexpr std::string_view TakeWord(std::string_view& text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlanks)));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlanks)));
  return word;
}

inline bool HasOneOf(std::string_view text, std::span<const std::string_view> all) {
  return std::ranges::any_of(all,
                             [&](std::string_view words) { return text.find(words) != text.npos; });
}
inline bool HasOneOf(std::string_view text, std::initializer_list<std::string_view> all) {
  return HasOneOf(text, std::span(all.begin(), all.size()));
}

// The text between the first `open` and the next character of `ends`; "" if `open` is not there.
constexpr std::string_view TextAfter(std::string_view text, std::string_view open,
                                     std::string_view ends) {
  const size_t at = text.find(open);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + open.size());
  return text.substr(0, text.find_first_of(ends));
}

inline std::string WithThousands(std::string digits) {
  const size_t first = digits.starts_with('-') ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

inline std::vector<std::string> WordsIn(std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view word = TakeWord(text); !word.empty(); word = TakeWord(text))
    words.emplace_back(word);
  return words;
}

}  // namespace tacho
