#include "base/secret_forms.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/secret_text.h"
#include "base/words.h"

namespace tacho {
namespace {

constexpr auto kNoPlace = std::string_view::npos;

// A form of secret that can be recognized, such as "hf_...".
struct Form {
  std::string_view begin;  // the beginning, which is not blanked
  std::string_view more;   // characters allowed after it, besides letters and digits
  size_t least;            // how many characters must follow `begin`
  bool needs_digit = true;
  bool is_upper = false;  // the letters must be upper case
};
constexpr auto kForms = std::to_array<Form>({
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
});
constexpr std::string_view kWebToken = "eyJ";

// Finds secrets of known forms. Looks at each byte at most once for each form: if a run of allowed
// characters is not a secret, no part of it is one.
class FormBlanker {
 public:
  explicit FormBlanker(std::span<char> bytes) : bytes_(bytes), text_(bytes.data(), bytes.size()) {}

  size_t Run() {
    static constexpr std::array<bool, 256> kBegins = [] {
      std::array<bool, 256> begins{};
      begins[static_cast<unsigned char>(kWebToken[0])] = true;
      for (const Form& form : kForms) begins[static_cast<unsigned char>(form.begin[0])] = true;
      return begins;
    }();
    size_t blanked = 0;
    for (size_t at = 0; at < text_.size(); ++at) {
      if (!kBegins[static_cast<unsigned char>(text_[at])]) continue;
      if (at > 0 && IsWordChar(text_[at - 1])) continue;
      size_t from = at;
      const size_t end = EndAt(from);
      if (end <= from) continue;
      blanked += BlankOnce(bytes_, from, end) ? 1 : 0;
      at = end - 1;
    }
    return blanked;
  }

 private:
  // The end of the secret at `from`; `from` if no secret begins there. If the secret has a prefix
  // that is not blanked, moves `from` to its end.
  size_t EndAt(size_t& from) {
    const std::string_view rest = text_.substr(from);
    if (rest.starts_with(kWebToken)) return EndOfWebToken(from);
    for (size_t i = 0; i < kForms.size(); ++i) {
      if (!rest.starts_with(kForms[i].begin)) continue;
      from += kForms[i].begin.size();
      return EndOfForm(kForms[i], from, none_until_[i]);
    }
    return from;
  }

  size_t EndOfForm(const Form& form, size_t at, size_t& none_until) const {
    if (at < none_until) return at;
    size_t end = at;
    bool has_digit = false;
    while (end < text_.size()) {
      const char c = text_[end];
      const bool is_letter = form.is_upper ? IsUpper(c) : IsLetter(c);
      if (!is_letter && !IsDigit(c) && form.more.find(c) == kNoPlace) break;
      has_digit = has_digit || IsDigit(c);
      ++end;
    }
    if (end - at >= form.least && (has_digit || !form.needs_digit)) return end;
    none_until = end;
    return at;
  }

  // The end of a JSON web token (three parts in base64); `at` if none begins there.
  size_t EndOfWebToken(size_t at) {
    constexpr size_t kLeastPart = 8;
    if (at < no_web_token_until_) return at;
    size_t end = at;
    for (int part = 0; part < 3; ++part) {
      if (part > 0 && (end == text_.size() || text_[end++] != '.')) return at;
      const size_t from = end;
      while (end < text_.size() && (IsWordChar(text_[end]) || text_[end] == '-')) ++end;
      if (part == 0) no_web_token_until_ = end;
      if (end - from < kLeastPart) return at;
    }
    return end;
  }

  std::span<char> bytes_;
  std::string_view text_;
  std::array<size_t, kForms.size()> none_until_{};
  size_t no_web_token_until_ = 0;
};

// Blanks the password in "scheme://user:password@host", even if there is a '/' in it, and a key in
// the place of the user.
class UrlBlanker {
 public:
  explicit UrlBlanker(std::span<char> bytes) : bytes_(bytes), text_(bytes.data(), bytes.size()) {}

  size_t Run() {
    constexpr std::string_view kSign = "://";
    size_t blanked = 0;
    for (size_t at = text_.find(kSign); at != kNoPlace; at = text_.find(kSign, at + 1)) {
      const size_t user = at + kSign.size();
      const size_t host = HostBehind(user);
      if (host == kNoPlace) continue;
      const std::string_view scheme = text_.substr(0, at), person = text_.substr(user, host - user);
      const size_t colon = person.find(':');
      const bool is_key = colon == kNoPlace && LooksLikeKey(person) &&
                          (scheme.ends_with("http") || scheme.ends_with("https"));
      const size_t from = colon == kNoPlace ? user : user + colon + 1;
      if (!is_key && (colon == kNoPlace || from == host || IsRank(from, host))) continue;
      blanked += BlankOnce(bytes_, from, host) ? 1 : 0;
    }
    return blanked;
  }

 private:
  // The index of the '@' before the host; npos if there is none.
  [[nodiscard]] size_t HostBehind(size_t user) const {
    constexpr size_t kLongestPassword = 256;
    constexpr std::string_view kPlaceEnds = "/\"'<> \t\r\n", kEnds = kPlaceEnds.substr(1);
    const size_t end = std::min(text_.find_first_of(kPlaceEnds, user), text_.size());
    const std::string_view place = text_.substr(user, end - user);
    if (const size_t sign = place.rfind('@'); sign != kNoPlace) return user + sign;
    // In "host:8000/a@b" the colon is followed by a port, not by a password.
    const size_t colon = place.find(':');
    if (colon == kNoPlace || place.starts_with('[') || end == text_.size() || text_[end] != '/' ||
        std::ranges::all_of(place.substr(colon + 1), IsDigit)) {
      return kNoPlace;
    }
    const std::string_view more = text_.substr(end, kLongestPassword);
    const size_t sign = more.find('@');
    if (sign >= more.find_first_of(kEnds)) return kNoPlace;
    return end + more.substr(0, more.find_first_of(kPlaceEnds, sign)).rfind('@');
  }

  // Whether the text is like "http://host:8000@1", where the number after '@' is a rank of the
  // server.
  [[nodiscard]] bool IsRank(size_t port, size_t sign) const {
    const size_t end = std::min(text_.find_first_not_of("0123456789", sign + 1), text_.size());
    return std::ranges::all_of(text_.substr(port, sign - port), IsDigit) && end > sign + 1 &&
           (end == text_.size() || text_[end] != '.');
  }

  std::span<char> bytes_;
  std::string_view text_;
};

}  // namespace

size_t BlankKnownForms(std::span<char> text) { return FormBlanker(text).Run(); }

size_t BlankUrlPasswords(std::span<char> text) { return UrlBlanker(text).Run(); }

}  // namespace tacho
