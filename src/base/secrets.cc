#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/words.h"

namespace tacho {
namespace {

constexpr char kStar = '*';
constexpr auto kNowhere = std::string_view::npos;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsWordChar(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

constexpr std::array<std::string_view, 10> kAlwaysSecret{
    "apikey", "authorization", "credential", "credentials", "passphrase",
    "passwd", "password",      "passwords",  "secret",      "secrets"};
// Of a name whose last word is one of these the value is no secret, but tells about it.
constexpr std::array<std::string_view, 22> kAboutIt{
    "budget", "cache",    "class", "states", "window", "count",  "dir",   "enabled",
    "file",   "folder",   "id",    "index",  "len",    "length", "limit", "name",
    "names",  "optional", "path",  "size",   "ttl",    "type"};
// What stands before "token" or "key" where these are those of a model or of a table.
constexpr std::array<std::string_view, 53> kHarmless{
    "accept", "accepted", "attention", "attn",    "audio",   "bos",   "bucket",   "cache",
    "cached", "cls",      "config",    "current", "decode",  "dict",  "dispatch", "draft",
    "end",    "eos",      "event",     "first",   "foreign", "group", "guard",    "hash",
    "image",  "input",    "kernel",    "kv",      "last",    "mask",  "max",      "min",
    "new",    "next",     "num",       "output",  "pad",     "per",   "prefill",  "primary",
    "prompt", "query",    "sampled",   "sep",     "shape",   "sort",  "special",  "start",
    "stop",   "target",   "total",     "unk",     "video"};

template <size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

// "hfToken", "HF_TOKEN" and "hf-token" are "hf" and "token".
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_word = IsLetter(c) || IsDigit(c);
    const bool begins = is_word && IsUpper(c) && i > 0 && !IsUpper(name[i - 1]);
    if ((!is_word || begins) && !words.back().empty()) words.emplace_back();
    if (is_word) words.back() += AsciiLower(c);
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

enum class Named { kPlain, kWeakly, kSecret };  // weakly: a word of its own, "key" or "token"

// As of an environment: "HF_TOKEN".
bool IsVariable(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool IsWeak(std::string_view word) { return word == "key" || word == "token"; }

Named HowNamed(std::string_view name) {
  constexpr size_t kLongestName = 100;
  if (name.empty() || name.size() > kLongestName) return Named::kPlain;
  std::vector<std::string> words = WordsOf(name);
  while (!words.empty() && std::ranges::all_of(words.back(), IsDigit)) words.pop_back();
  if (words.empty() || IsOneOf(words.back(), kAboutIt)) return Named::kPlain;
  if (words.size() == 1 && IsWeak(words[0])) return Named::kWeakly;
  const bool is_variable = IsVariable(name);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (IsOneOf(word, kAlwaysSecret) || word.ends_with("password") || word.ends_with("secret")) {
      return Named::kSecret;
    }
    // Of an environment also "HF_TOKEN_PROD".
    if (i + 1 < words.size() && !is_variable) continue;
    const bool is_model = word == "tiktoken" || (i > 0 && IsOneOf(words[i - 1], kHarmless));
    if (word.ends_with("token") || word.ends_with("apikey") || word == "key") {
      return is_model ? Named::kPlain : Named::kSecret;
    }
  }
  return Named::kPlain;
}

// A secret of a known form.
struct Form {
  std::string_view begin;  // stays
  std::string_view more;   // characters that may follow beside letters and digits
  size_t least;            // characters behind `begin`
  bool needs_digit = true;
  bool is_upper = false;  // only upper-case letters and digits
};
constexpr Form kForms[] = {
    {"hf_", "", 20, false},
    {"sk-", "_-", 20},
    {"ghp_", "", 30},
    {"gho_", "", 30},
    {"ghu_", "", 30},
    {"ghs_", "", 30},
    {"ghr_", "", 30},
    {"github_pat_", "_", 20},
    {"glpat-", "_-", 20},
    {"AKIA", "", 16, false, true},
    {"ASIA", "", 16, false, true},
    {"AIza", "_-", 35},
    {"xoxb-", "-", 20},
    {"xoxp-", "-", 20},
    {"nvapi-", "_-", 20},
    {"Bearer ", "._~+/=-", 8, false},
    {"bearer ", "._~+/=-", 8, false},
};

// The end of what may belong to a secret of `form` at `at`; `at` if there is no secret.
size_t EndOfForm(const Form& form, std::string_view text, size_t at) {
  size_t end = at;
  bool has_digit = false;
  while (end < text.size()) {
    const char c = text[end];
    const bool is_letter = form.is_upper ? IsUpper(c) : IsLetter(c);
    if (!is_letter && !IsDigit(c) && form.more.find(c) == kNowhere) break;
    has_digit = has_digit || IsDigit(c);
    ++end;
  }
  return end - at >= form.least && (has_digit || !form.needs_digit) ? end : at;
}

// The end of a JSON web token at `at`, three parts of base64; `at` if none is there.
size_t EndOfWebToken(std::string_view text, size_t at) {
  constexpr size_t kLeastPart = 8;
  size_t end = at;
  for (int part = 0; part < 3; ++part) {
    if (part > 0 && (end == text.size() || text[end++] != '.')) return at;
    const size_t from = end;
    while (end < text.size() && (IsWordChar(text[end]) || text[end] == '-')) ++end;
    if (end - from < kLeastPart) return at;
  }
  return end;
}

void Blank(std::span<char> text, size_t from, size_t to) {
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(from),
            text.begin() + static_cast<std::ptrdiff_t>(to), kStar);
}
// False if it was blanked before.
bool BlankOnce(std::span<char> text, size_t from, size_t to) {
  const auto part = text.subspan(from, to - from);
  if (std::ranges::all_of(part, [](char c) { return c == kStar; })) return false;
  Blank(text, from, to);
  return true;
}

// Blanks the secrets of known forms.
size_t BlankForms(std::span<char> bytes) {
  static constexpr std::array<bool, 256> kBegins = [] {
    std::array<bool, 256> begins{};
    begins[static_cast<unsigned char>('e')] = true;  // of a web token
    for (const Form& form : kForms) begins[static_cast<unsigned char>(form.begin[0])] = true;
    return begins;
  }();
  const std::string_view text(bytes.data(), bytes.size());
  size_t blanked = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (!kBegins[static_cast<unsigned char>(text[at])]) continue;
    if (at > 0 && IsWordChar(text[at - 1])) continue;
    const std::string_view rest = text.substr(at);
    size_t from = at, end = at;
    for (const Form& form : kForms) {
      if (!rest.starts_with(form.begin)) continue;
      from = at + form.begin.size();
      end = std::max(EndOfForm(form, text, from), from);
    }
    if (rest.starts_with("eyJ")) {
      from = at;
      end = EndOfWebToken(text, at);
    }
    if (end <= from) continue;
    blanked += BlankOnce(bytes, from, end) ? 1 : 0;
    at = end - 1;
  }
  return blanked;
}

// "api_key=None" says that there is no key, and a short number only counts.
bool IsNothing(std::string_view value) {
  constexpr size_t kShortNumber = 8;
  if (value.size() < kShortNumber && std::ranges::all_of(value, IsDigit)) return true;
  const std::string lower = AsciiLowered(value);
  return lower == "none" || lower == "null" || lower == "true" || lower == "false" ||
         lower == "unset" || lower == "empty";
}

bool IsScheme(std::string_view word) {
  const std::string lower = AsciiLowered(word);
  return lower == "bearer" || lower == "basic" || lower == "digest" || lower == "token";
}

// A value that is assigned to a name: begin == npos: nothing is.
struct Value {
  size_t begin = kNowhere, end = kNowhere;
};

// What is assigned to the name in front of `at`: "NAME=value", "NAME = value" of a variable,
// "'NAME': 'value'", the same escaped in a JSON text, "--name value", "'--name', 'value'".
Value ValueBehind(std::string_view text, size_t at, bool is_option, bool is_variable) {
  constexpr std::string_view kQuotes = "\"'\\", kQuotesAndBlanks = "\"'\\ ";
  const size_t sign = text.find_first_not_of(is_variable ? kQuotesAndBlanks : kQuotes, at);
  if (sign == kNowhere) return {};
  const bool assigns =
      text[sign] == '=' || text[sign] == ':' || (is_option && text[sign] == ',' && sign > at);
  const bool by_blank = is_option && sign == at && text[sign] == ' ';
  if (!assigns && !by_blank) return {};
  const size_t begin = text.find_first_not_of(kQuotesAndBlanks, sign + 1);
  // "std::token::value" and "secretstorage==3.3" assign nothing; after "--name " comes an option.
  if (begin == kNowhere || text[begin] == ':' || text[begin] == '=' ||
      (by_blank && text[begin] == '-'))
    return {};
  const char before = text[begin - 1];
  if (before == '"' || before == '\'') {
    const size_t quote = std::min(text.find(before, begin), text.size());
    return {begin, quote > begin && text[quote - 1] == '\\' ? quote - 1 : quote};
  }
  const std::string_view ends =
      is_variable && text[sign] == '=' ? "\"'\\ \t\r\n" : "\"'\\ \t\r\n,;&)}]<>";
  return {begin, std::min(text.find_first_of(ends, begin), text.size())};
}

// Blanks the password of "scheme://user:password@host".
size_t BlankPasswordsOfUrls(std::span<char> bytes) {
  constexpr std::string_view kSign = "://";
  const std::string_view text(bytes.data(), bytes.size());
  size_t blanked = 0;
  for (size_t at = text.find(kSign); at != kNowhere; at = text.find(kSign, at + 1)) {
    const size_t user = at + kSign.size();
    const size_t end = text.find_first_of("@/\"' \t\r\n", user);
    if (end == kNowhere || text[end] != '@') continue;
    const size_t colon = text.find(':', user);
    if (colon + 1 < end) blanked += BlankOnce(bytes, colon + 1, end) ? 1 : 0;
  }
  return blanked;
}

// Blanks the values that are assigned to names of secrets.
size_t BlankAssigned(std::span<char> bytes) {
  constexpr size_t kLeast = 4;
  const std::string_view text(bytes.data(), bytes.size());
  size_t blanked = 0;
  // Each way to assign has one of these; most texts have none.
  if (text.find_first_of("=:") == kNowhere && text.find("--") == kNowhere) return 0;
  for (size_t at = 0; at < text.size();) {
    if (!IsLetter(text[at]) && text[at] != '_') {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && (IsWordChar(text[end]) || text[end] == '-')) ++end;
    const bool is_option = at >= 2 && text[at - 1] == '-' && text[at - 2] == '-';
    const std::string_view name = text.substr(at, end - at);
    const bool is_variable = IsVariable(name);
    const Value value = ValueBehind(text, end, is_option, is_variable);
    at = end;
    if (value.begin == kNowhere || HowNamed(name) != Named::kSecret) continue;
    size_t from = value.begin, to = value.end;
    const size_t word = std::min(text.find(' ', from), text.size());
    if (IsScheme(text.substr(from, word - from)) && word + 1 < text.size()) {
      from = word + 1;
      to = to > from ? to : std::min(text.find_first_of("\"'\\ \t\r\n,;&)}]<>", from), text.size());
    }
    if (to < from + kLeast || IsNothing(text.substr(from, to - from))) continue;
    blanked += BlankOnce(bytes, from, to) ? 1 : 0;
    at = to;
  }
  return blanked;
}

// Walks over the tokens of a JSON text, or of a part of one.
class JsonBlanker {
 public:
  explicit JsonBlanker(std::span<char> json) : bytes_(json), text_(json.data(), json.size()) {}

  // `named`: how the key of the whole value names a secret.
  size_t Run(Named named) {
    std::vector<Named> around;  // of each list and object that is open
    Named next = named;
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        const size_t begin = at_ + 1;
        const size_t end = EndOfString(begin);
        const size_t behind = text_.find_first_not_of(kBlanks, std::min(end + 1, text_.size()));
        const bool is_key = behind != kNowhere && text_[behind] == ':';
        if (is_key) {
          const Named inherited = around.empty() ? Named::kPlain : around.back();
          next = std::max(inherited, HowNamed(text_.substr(begin, end - begin)));
        } else {
          const bool is_option = names_option_;
          names_option_ = false;
          const std::string_view value = text_.substr(begin, end - begin);
          if (value.starts_with("--")) names_option_ = HowNamed(value.substr(2)) == Named::kSecret;
          BlankString(begin, end, is_option && !value.starts_with("--") ? Named::kSecret : next);
        }
        at_ = end;
      } else if (c == '{' || c == '[') {
        // "key" and "token" alone may as well be those of a table of the trace.
        if (next == Named::kWeakly) next = Named::kPlain;
        around.push_back(next);
      } else if (c == '}' || c == ']') {
        if (!around.empty()) around.pop_back();
        next = around.empty() ? Named::kPlain : around.back();
      } else if (c == ',') {
        next = around.empty() ? Named::kPlain : around.back();
      }
    }
    return blanked_;
  }

 private:
  [[nodiscard]] size_t EndOfString(size_t at) const {
    while (at < text_.size() && text_[at] != '"') at += text_[at] == '\\' ? 2 : 1;
    return std::min(at, text_.size());
  }

  void BlankString(size_t begin, size_t end, Named named) {
    constexpr size_t kLeast = 4, kLeastWeakly = 8;
    const std::string_view value = text_.substr(begin, end - begin);
    const auto part = bytes_.subspan(begin, end - begin);
    const bool is_secret = named == Named::kSecret
                               ? value.size() >= kLeast
                               : named == Named::kWeakly && value.size() >= kLeastWeakly &&
                                     value.find_first_of(kBlanks) == kNowhere;
    if (!is_secret || IsNothing(value)) {
      blanked_ += BlankSecrets(part);
      return;
    }
    // "Bearer KEY": which scheme it is, is no secret.
    const size_t blank = value.find(' ');
    const size_t from = blank != kNowhere && IsScheme(value.substr(0, blank)) ? blank + 1 : 0;
    blanked_ += BlankOnce(part, from, part.size()) ? 1 : 0;
  }

  std::span<char> bytes_;
  std::string_view text_;
  size_t at_ = 0, blanked_ = 0;
  bool names_option_ = false;  // the last string: the next one is its value
};

}  // namespace

bool NamesSecret(std::string_view name) { return HowNamed(name) != Named::kPlain; }

size_t BlankSecrets(std::span<char> text) {
  constexpr size_t kShortest = 8;  // "TOKEN=xy" and less has none
  if (text.size() < kShortest) return 0;
  return BlankForms(text) + BlankPasswordsOfUrls(text) + BlankAssigned(text);
}

size_t BlankSecretsInJson(std::span<char> json) {
  return JsonBlanker(json).Run(Named::kPlain) + BlankForms(json);
}

size_t BlankSecretValue(std::string_view key, std::span<char> json) {
  return JsonBlanker(json).Run(HowNamed(key));
}

}  // namespace tacho
