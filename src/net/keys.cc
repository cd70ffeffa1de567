#include "net/keys.h"

#include <algorithm>

namespace tacho {
namespace {

bool HasHeader(const std::vector<HttpHeader>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const HttpHeader& header) { return SameHeaderName(header.name, name); });
}

// Shorter ones ("x", "none") are no secrets, and stand in too many words.
constexpr size_t kLeastSecret = 4;

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
    if (IsPlainHeader(header.name)) continue;
    // "Bearer KEY": the last word.
    const std::string word = header.value.substr(header.value.rfind(' ') + 1);
    if (word.size() >= kLeastSecret) secrets_.push_back(word);
  }
}

std::string Keys::Hidden(std::string text) const {
  for (const std::string& secret : secrets_)
    for (size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += 3)
      text.replace(at, secret.size(), "***");
  return text;
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
