#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tacho {

// A name to match patterns against: in lower case, with the set of all pairs of adjacent letters in
// it. With that set, nearly all patterns can be ruled out by two reads of memory.
class PatternSubject {
 public:
  explicit PatternSubject(std::string_view name) : text_(name) {
    for (char& c : text_) c = Lower(c);
    for (size_t i = 1; i < text_.size(); ++i) pairs_.set(Pair(text_[i - 1], text_[i]));
  }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] bool MayHold(uint16_t pair) const { return pairs_[pair]; }

  static char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
  static uint16_t Pair(char a, char b) {
    return static_cast<uint16_t>(
        (static_cast<unsigned char>(a) * 37u + static_cast<unsigned char>(b)) % kPairs);
  }

 private:
  static constexpr size_t kPairs = 4096;
  std::string text_;
  std::bitset<kPairs> pairs_;
};

// Matches names that contain some pieces of text, in this order, in upper or lower case. In the
// pattern, "*" stands for any characters between two pieces, "^" at the front for the beginning of
// a word, and "$" at the end for the end of a word. A word is a run of letters, digits and
// underscores, so "^norm" finds "norm" and "ns::norm_fwd" but not "layer_norm". A pattern that
// begins with "!" matches exactly the names that the rest of the pattern does not match. Immutable.
class NamePattern {
 public:
  explicit NamePattern(std::string_view text) {
    negated_ = text.starts_with('!');
    if (negated_) text.remove_prefix(1);
    word_begin_ = text.starts_with('^');
    if (word_begin_) text.remove_prefix(1);
    word_end_ = text.ends_with('$');
    if (word_end_) text.remove_suffix(1);
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('*', begin), text.size());
      std::string piece(text.substr(begin, end - begin));
      for (char& c : piece) c = PatternSubject::Lower(c);
      for (size_t i = 1; i < piece.size(); ++i) {
        if (i == 1 || i + 1 == piece.size())
          pairs_.push_back(PatternSubject::Pair(piece[i - 1], piece[i]));
      }
      pieces_.push_back(std::move(piece));
      begin = end + 1;
    }
  }

  // True if the pattern would match every name or no name.
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(pieces_, [](const std::string& piece) { return piece.empty(); });
  }

  [[nodiscard]] bool Matches(const PatternSubject& subject) const {
    return IsIn(subject) != negated_;
  }

 private:
  [[nodiscard]] bool IsIn(const PatternSubject& subject) const {
    for (const uint16_t pair : pairs_) {
      if (!subject.MayHold(pair)) return false;
    }
    // Taking the leftmost place for each piece leaves the most text for the pieces after it.
    const std::string_view text = subject.text();
    size_t from = 0;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const bool begins = word_begin_ && i == 0, ends = word_end_ && i + 1 == pieces_.size();
      const std::string& piece = pieces_[i];
      size_t at = text.find(piece, from);
      while (at != std::string_view::npos && ((begins && !IsBoundary(text, at)) ||
                                              (ends && !IsBoundary(text, at + piece.size())))) {
        at = text.find(piece, at + 1);
      }
      if (at == std::string_view::npos) return false;
      from = at + piece.size();
    }
    return true;
  }

  static bool IsWord(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  }
  // Whether a word begins or ends at `at`.
  static bool IsBoundary(std::string_view text, size_t at) {
    return at == 0 || at >= text.size() || !IsWord(text[at - 1]) || !IsWord(text[at]);
  }

  std::vector<std::string> pieces_;
  std::vector<uint16_t> pairs_;  // two pairs of letters for each piece: its first and its last
  bool negated_ = false, word_begin_ = false, word_end_ = false;
};

}  // namespace tacho
