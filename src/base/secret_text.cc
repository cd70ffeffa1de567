#include "base/secret_text.h"

#include <algorithm>
#include <string>

#include "base/secret_forms.h"
#include "base/words.h"

namespace tacho {
namespace {

constexpr auto kNowhere = std::string_view::npos;
constexpr char kStar = '*';
constexpr std::string_view kQuotes = "\"'";

bool IsQuote(char c) { return kQuotes.find(c) != kNowhere; }

// What stands between a name and its value.
struct Sign {
  enum Kind : uint8_t { kNothing, kEquals, kColon, kComma, kBlank } kind = kNothing;
  size_t end = 0;
};

struct Value {
  size_t begin = 0, end = 0;
  size_t next = 0;  // the index after its closing quote
  bool is_quoted = false;
};

// A word of the text that may be the name of a value.
struct Name {
  std::string_view text;
  bool is_option = false, is_variable = false, in_query = false;
};

// Finds and blanks values whose names show that they are secrets. Judges the name before it looks
// for the value. Reads each value only once, unless it is short.
class AssignedBlanker {
 public:
  explicit AssignedBlanker(std::span<char> bytes)
      : bytes_(bytes), text_(bytes.data(), bytes.size()) {}

  size_t Run() {
    // Every way to give a value to a name contains one of these; most texts contain none of them.
    if (text_.find_first_of("=:") == kNowhere && text_.find("--") == kNowhere) return 0;
    for (size_t at = 0; at < text_.size();) {
      if (!IsLetter(text_[at]) && text_[at] != '_') {
        ++at;
        continue;
      }
      size_t end = at;
      while (end < text_.size() && (IsWordChar(text_[end]) || text_[end] == '-')) ++end;
      at = BlankBehind(at, end);
    }
    return blanked_;
  }

 private:
  // Characters that end a value without quotes.
  static constexpr std::string_view kLineEnds = "\r\n", kMarks = ",;&)}]<>";

  // Blanks the value of the name in [begin, end) if it is a secret. Returns the index at which
  // reading continues.
  size_t BlankBehind(size_t begin, size_t end) {
    Name name{.text = text_.substr(begin, end - begin)};
    name.is_option = text_.substr(0, begin).ends_with("--");
    const Sign sign = SignBehind(end, name.is_option);
    if (sign.kind == Sign::kNothing) return end;
    name.is_variable =
        std::ranges::none_of(name.text, [](char c) { return IsLetter(c) && !IsUpper(c); });
    name.in_query = begin > 0 && sign.kind == Sign::kEquals &&
                    (text_[begin - 1] == '?' || text_[begin - 1] == '&');
    const size_t at = std::min(text_.find_first_not_of(' ', sign.end), text_.size());
    const Named named = HowNamedHere(name, at);
    if (named == Named::kPlain || at == text_.size()) return end;
    const bool is_list = std::string_view("[({").find(text_[at]) != kNowhere;
    if (is_list) return named == Named::kSecret && sign.kind != Sign::kBlank ? BlankList(at) : end;
    const bool is_word = name.is_option || (name.is_variable && sign.kind == Sign::kEquals);
    const std::string_view ends = is_word && !name.in_query ? "" : kMarks;
    const Value value = WithoutScheme(ValueAt(at, ends, named));
    const bool separate = sign.kind == Sign::kBlank || sign.kind == Sign::kComma;
    if (separate && text_.substr(value.begin).starts_with('-')) return end;
    if (!BlankValue(value, named)) return end;
    if (AsciiLowered(name.text).ends_with("cookie") && !value.is_quoted)
      return BlankPairs(value.end);
    if (!separate || OptionNamed("--" + std::string(name.text)) != Option::kSecrets)
      return value.next;
    return sign.kind == Sign::kComma ? BlankStrings(value.next) : BlankWords(value.next);
  }

  // Reads what follows a name. The forms are "NAME=", "NAME =", "'NAME':" (its quotes may be
  // escaped), "--name ", "'--name',".
  [[nodiscard]] Sign SignBehind(size_t at, bool is_option) const {
    const size_t close = std::min(text_.find_first_not_of("\"'\\", at), text_.size());
    const size_t sign = std::min(text_.find_first_not_of(' ', close), text_.size());
    if (sign == text_.size()) return {};
    const char c = text_[sign], next = sign + 1 < text_.size() ? text_[sign + 1] : ' ';
    // "std::token::value" and "secretstorage==3.3" do not assign a value to a name. Help texts such
    // as "--api-key: KEY" do not either.
    const bool doubled = next == '=' || next == ':';
    if (c == '=' && !doubled) return {Sign::kEquals, sign + 1};
    if (c == ':' && !doubled && sign == close && (close > at || !is_option)) {
      return {Sign::kColon, sign + 1};
    }
    if (!is_option) return {};
    if (c == ',' && close > at) return {Sign::kComma, sign + 1};
    return close == at && sign > at ? Sign{Sign::kBlank, sign} : Sign{};
  }

  // Whether a name tells that its value is a secret. The value is at index `at`.
  [[nodiscard]] Named HowNamedHere(const Name& name, size_t at) const {
    const Named named = HowNamed(name.text);
    if (named == Named::kSecret) return named;
    const std::string lower =
        named == Named::kMaybe || name.in_query ? AsciiLowered(name.text) : "";
    const bool alone = lower == "key" || lower == "token" || lower == "auth";
    if (name.in_query && (alone || lower == "sig" || lower == "signature")) return Named::kSecret;
    if (lower == "token" && (name.is_option || name.is_variable)) return Named::kSecret;
    const bool is_quoted = at < text_.size() && (IsQuote(text_[at]) || text_[at] == '\\');
    if (lower == "key" && !name.is_option && !name.is_variable && !is_quoted) return Named::kPlain;
    return named;
  }

  // The value at `at`: either in quotes, or up to a blank or one of `ends`.
  [[nodiscard]] Value ValueAt(size_t at, std::string_view ends, Named named) const {
    // A value that must look like a key is read only as far as a key can be long.
    constexpr size_t kLongestKey = 600;
    const std::string_view text =
        named == Named::kMaybe ? text_.substr(0, at + kLongestKey) : text_;
    const size_t first = at + PrefixOfQuoted(text.substr(at));
    const size_t quote = std::min(text.find_first_not_of('\\', first), text.size());
    if (quote < text.size() && IsQuote(text[quote])) return Quoted(text, first, quote);
    Value value{at, at, at, false};
    for (; value.end < text.size(); ++value.end) {
      const char c = text[value.end];
      // An environment that was read as one text has '\0' between its variables; this ends a value
      // too.
      if (IsQuote(c) || static_cast<unsigned char>(c) <= ' ' || ends.find(c) != kNowhere) break;
      if (c != '\\') continue;
      // An escaped quote ends the value too.
      const size_t behind = std::min(text.find_first_not_of('\\', value.end), text.size());
      if (behind < text.size() && IsQuote(text[behind])) break;
      value.end = behind - 1;
    }
    value.next = value.end;
    return value;
  }

  // The size of a prefix before a quoted value: 1 for "b'K'", 10 for "SecretStr('K')". 0 if there
  // is none.
  static size_t PrefixOfQuoted(std::string_view text) {
    constexpr size_t kLongest = 16;
    size_t size = 0;
    while (size < std::min(text.size(), kLongest) && IsWordChar(text[size])) ++size;
    if (size > 0 && text.substr(size).starts_with('('))
      ++size;
    else if (size != 1)
      return 0;
    return size < text.size() && (IsQuote(text[size]) || text[size] == '\\') ? size : 0;
  }

  // Reads the value whose opening quote is at `quote`. In escaped text backslashes stand before the
  // quote; `first` is the index of the first of them (or `quote` if there is none). The closing
  // quote has the same backslashes before it.
  static Value Quoted(std::string_view text, size_t first, size_t quote) {
    const std::string_view mark = text.substr(first, quote + 1 - first);
    size_t end = text.find(mark, quote + 1);
    while (mark.size() == 1 && end != kNowhere && text[end - 1] == '\\' && end - 1 > quote &&
           text[end - 2] != '\\') {
      end = text.find(mark, end + 1);
    }
    if (end == kNowhere) {
      end = std::min(text.find_first_of(kLineEnds, quote + 1), text.size());
      return {quote + 1, end, end, true};
    }
    return {quote + 1, end, end + mark.size(), true};
  }

  // The value without a scheme such as "Bearer" before the key.
  [[nodiscard]] Value WithoutScheme(Value value) const {
    const size_t key = BehindScheme(text_, value.begin);
    if (key == value.begin || (value.is_quoted && key >= value.end)) return value;
    if (!value.is_quoted) return ValueAt(key, kMarks, Named::kSecret);
    value.begin = key;
    return value;
  }

  // Blanks a value if it is a secret; returns false if it is not.
  bool BlankValue(const Value& value, Named named) {
    if (!IsSecretValue(named, text_.substr(value.begin, value.end - value.begin))) return false;
    blanked_ += BlankOnce(bytes_, value.begin, value.end) ? 1 : 0;
    return true;
  }

  // Blanks the values in a list or object: "['K1', 'K2']" or "{'a': 'K'}". Returns the index after
  // the last value.
  size_t BlankList(size_t at) {
    constexpr std::string_view kBetween = "[({,: ";
    while (at < text_.size()) {
      at = std::min(text_.find_first_not_of(kBetween, at), text_.size());
      if (at == text_.size() || std::string_view("])}\r\n").find(text_[at]) != kNowhere) return at;
      const Value value = ValueAt(at, ",])}", Named::kSecret);
      BlankValue(value, Named::kSecret);
      at = std::max(value.next, at + 1);
    }
    return at;
  }

  // Blanks the other pairs of a cookie: "a=K1; b=K2". Returns the index at which reading continues.
  size_t BlankPairs(size_t at) {
    while (text_.substr(at).starts_with("; ")) {
      const Value value = ValueAt(at + 2, ";", Named::kSecret);
      if (value.end == value.begin) break;
      BlankValue(value, Named::kSecret);
      at = value.end;
    }
    return at;
  }

  // Blanks the second and further keys after vLLM's --api-key in a list: "'K2', '--port', '1'".
  // Returns the index at which reading continues.
  size_t BlankStrings(size_t at) {
    while (text_.substr(at).starts_with(',')) {
      const size_t first = std::min(text_.find_first_not_of(' ', at + 1), text_.size());
      if (first == text_.size()) break;
      const Value value = ValueAt(first, "", Named::kSecret);
      if (!value.is_quoted || text_.substr(value.begin).starts_with('-')) break;
      BlankValue(value, Named::kSecret);
      at = value.next;
    }
    return at;
  }

  // Blanks the second and further keys after --api-key on a command line: all words up to the next
  // option. If no option follows, the text may be prose, so blanking stops at the first word
  // without a digit. Returns the index at which reading continues.
  size_t BlankWords(size_t at) {
    constexpr size_t kMost = 1024;
    const std::string_view more = text_.substr(at, kMost);
    const std::string_view line = more.substr(0, more.find_first_of("\"'\r\n"));
    const size_t option = line.find(" -");
    const size_t end = at + std::min(option, line.size());
    while (at < end && text_[at] == ' ') {
      const size_t begin = std::min(text_.find_first_not_of(' ', at), end);
      at = std::min(text_.find(' ', begin), end);
      const std::string_view word = text_.substr(begin, at - begin);
      if (option == kNowhere && std::ranges::none_of(word, IsDigit)) return begin;
      BlankValue({begin, at, at, false}, Named::kSecret);
    }
    return at;
  }

  std::span<char> bytes_;
  std::string_view text_;
  size_t blanked_ = 0;
};

bool IsScheme(std::string_view word) {
  const std::string lower = AsciiLowered(word);
  return lower == "bearer" || lower == "basic" || lower == "digest" || lower == "token";
}

// Whether a value is not a secret: "api_key=None" means that there is no key, and a short number is
// a count.
bool IsNothing(std::string_view value) {
  constexpr size_t kLongest = 7;
  if (value.size() > kLongest) return false;
  const std::string lower = AsciiLowered(value);
  return std::ranges::all_of(value, IsDigit) || lower == "none" || lower == "null" ||
         lower == "true" || lower == "false" || lower == "unset" || lower == "empty" ||
         IsScheme(lower);
}

}  // namespace

void Blank(std::span<char> text, size_t from, size_t to) {
  std::ranges::fill(text.subspan(from, to - from), kStar);
}

bool BlankOnce(std::span<char> text, size_t from, size_t to) {
  const auto part = text.subspan(from, to - from);
  if (std::ranges::all_of(part, [](char c) { return c == kStar; })) return false;
  Blank(text, from, to);
  return true;
}

bool IsSecretValue(Named named, std::string_view value) {
  constexpr size_t kLeast = 4;
  if (named == Named::kMaybe) return LooksLikeKey(value);
  return named == Named::kSecret && value.size() >= kLeast && !IsNothing(value);
}

size_t BehindScheme(std::string_view text, size_t at) {
  constexpr size_t kLongest = 8;
  const size_t size = text.substr(at, kLongest).find(' ');
  if (size == kNowhere || !IsScheme(text.substr(at, size))) return at;
  return at + size + 1;
}

Option OptionNamed(std::string_view word) {
  if (!word.starts_with("--")) return Option::kNone;
  const std::string_view name = word.substr(2);
  if (!std::ranges::all_of(name, [](char c) { return IsWordChar(c) || c == '-'; }))
    return Option::kNone;
  const std::string lower = AsciiLowered(name);
  if (lower == "api-key" || lower == "api_key") return Option::kSecrets;
  return HowNamed(name) == Named::kSecret || lower == "token" ? Option::kOneSecret : Option::kNone;
}

size_t BlankSecretsInText(std::span<char> text) {
  // Assignments (NAME=VALUE, --NAME VALUE) come last. Otherwise a secret of a known form that is
  // not blanked yet would be read as part of a name.
  const size_t of_known_form = BlankKnownForms(text);
  const size_t in_urls = BlankUrlPasswords(text);
  return of_known_form + in_urls + AssignedBlanker(text).Run();
}

}  // namespace tacho
