#include "net/keys.h"

#include <algorithm>
#include <string_view>

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho {
namespace {

bool HasHeader(const std::vector<HttpHeader>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const HttpHeader& header) { return SameHeaderName(header.name, name); });
}

// Shorter values ("x", "none") and shorter parts of values are no secrets and occur in ordinary
// words.
constexpr size_t kLeastSecret = 4, kLeastPart = 6;
// A secret that was cut off is hidden too if at least this many of its first letters are there:
// kLeastAtEnd at the end of the text, where the text itself may have been cut; kLeastBeginning
// elsewhere, where only its writer may have cut the secret.
constexpr size_t kLeastAtEnd = 4, kLeastBeginning = 12;

// A header's value without the scheme before the key: "KEY" for "Bearer KEY".
std::string_view WithoutScheme(std::string_view value) {
  constexpr std::string_view kSchemes[] = {"bearer", "basic",   "digest",   "token",
                                           "apikey", "api-key", "negotiate"};
  std::string_view rest = value;
  const std::string first = AsciiLowered(TakeWord(rest));
  const bool scheme =
      std::find(std::begin(kSchemes), std::end(kSchemes), first) != std::end(kSchemes);
  return scheme && !rest.empty() ? rest : value;
}

// Adds the whole value and its parts: FIRST and SECOND of "FIRST SECOND" or "a=FIRST; b=SECOND".
void AddSecrets(std::string_view value, std::vector<std::string>& secrets) {
  if (value.size() >= kLeastSecret) secrets.emplace_back(value);
  for (size_t at = 0, end = 0; at < value.size(); at = end + 1) {
    end = std::min(value.find_first_of(" \t,;", at), value.size());
    std::string_view part = value.substr(at, end - at);
    while (part.ends_with('=')) part.remove_suffix(1);  // base64 may end in '='
    part.remove_prefix(part.find('=') + 1);
    if (part.starts_with('"')) part.remove_prefix(1);
    if (part.ends_with('"')) part.remove_suffix(1);
    if (part.size() >= kLeastPart && part.size() < value.size()) secrets.emplace_back(part);
  }
}

// If the character `c` stands at `at`, returns the index after it; if another character stands at
// `at`, returns `at`; if the text ends too early to tell, returns npos. `c` may be written plainly,
// as in JSON (\", \u0022) or, with `url`, as in a URL (%22). Skips any number of backslashes before
// it: their number depends on how often the text was quoted.
size_t EndOf(char c, bool url, std::string_view text, size_t at) {
  size_t from = at;
  while (from < text.size() && text[from] == '\\') ++from;
  while (url && SameHeaderName(text.substr(from, 3), "%5C")) from += 3;
  if (from == text.size()) return std::string_view::npos;
  const char first = text[from];
  const size_t digits = first == '%' && url ? 2 : first == 'u' && from > at ? 4 : 0;
  if (digits > 0) {
    const std::string_view code = text.substr(from + 1, digits);
    const auto value = ParseWhole<unsigned>(code, 16);
    if (value || code.empty()) {
      if (code.size() < digits) return std::string_view::npos;
      if (value == static_cast<unsigned char>(c)) return from + 1 + digits;
    }
  }
  return first == c || (first == '+' && c == ' ' && url) ? from + 1 : at;
}

// If the secret, or a prefix of it that must be hidden, begins at `at`, returns the index after it;
// else returns `at`.
size_t EndOfSecret(const std::string& secret, bool url, std::string_view text, size_t at) {
  size_t end = at;
  for (size_t i = 0; i < secret.size(); ++i) {
    const size_t next = EndOf(secret[i], url, text, end);
    if (next == std::string_view::npos) return i >= kLeastAtEnd ? text.size() : at;
    if (next == end) return i >= kLeastBeginning ? end : at;
    end = next;
  }
  return end;
}

}  // namespace

bool IsPlainHeader(std::string_view name) {
  constexpr std::string_view kPlain[] = {"Accept",        "Accept-Encoding", "Accept-Language",
                                         "Cache-Control", "Connection",      "Content-Type",
                                         "Host",          "User-Agent",      "X-Request-Id"};
  return std::any_of(std::begin(kPlain), std::end(kPlain),
                     [&](std::string_view plain) { return SameHeaderName(plain, name); });
}

Keys::Keys(std::vector<HttpHeader> headers, const std::string& bearer_key, bool to_all)
    : headers_(std::move(headers)), to_all_(to_all) {
  if (!bearer_key.empty() && !HasHeader(headers_, "Authorization"))
    headers_.push_back({"Authorization", "Bearer " + bearer_key});
  for (const HttpHeader& header : headers_) {
    if (!IsPlainHeader(header.name)) AddSecrets(WithoutScheme(header.value), secrets_);
  }
  for (std::string& secret : secrets_) std::erase(secret, '\\');  // EndOf skips them in the text
  std::erase_if(secrets_, [](const std::string& secret) { return secret.size() < kLeastSecret; });
}

std::string Keys::Hidden(std::string text) const {
  if (secrets_.empty()) return text;
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    for (const std::string& secret : secrets_)
      for (const bool url : {false, true}) end = std::max(end, EndOfSecret(secret, url, text, at));
    if (end > at)
      shown += "***";
    else
      shown += text[end++];
    at = end;
  }
  return shown;
}

Result<void> Keys::Check() const {
  for (const HttpHeader& header : headers_) TACHO_RETURN_IF_ERROR(CheckHeader(header));
  return {};
}

void Keys::Name(const Url& url) {
  const std::lock_guard lock(mutex_);
  origins_.insert(url.Origin());
}

KeyUse Keys::UseFor(const Url& url) const {
  if (headers_.empty()) return KeyUse::kNone;
  if (to_all_) return KeyUse::kSent;
  const std::lock_guard lock(mutex_);
  return origins_.contains(url.Origin()) ? KeyUse::kSent : KeyUse::kWithheld;
}

void Keys::PutInto(const Url& url, std::vector<HttpHeader>& headers) const {
  if (UseFor(url) != KeyUse::kSent) return;
  for (const HttpHeader& header : headers_)
    if (!HasHeader(headers, header.name)) headers.push_back(header);
}

}  // namespace tacho
