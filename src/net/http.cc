#include "net/http.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"

namespace tacho {
namespace {

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

}  // namespace

bool IsHttpToken(std::string_view text) {
  constexpr std::string_view kNot = "()<>@,;:\\\"/[]?={} \t";
  return !text.empty() && !HasControl(text) && text.find_first_of(kNot) == std::string_view::npos;
}

Result<void> CheckHeader(const HttpHeader& header) {
  if (!IsHttpToken(header.name))
    return Fail(ErrorKind::kUsage, "a header's name has letters, digits and '-' alone");
  if (HasControl(header.value))
    return Fail(ErrorKind::kUsage,
                fmt::format("the value of the header {} has a line break or another control "
                            "character",
                            header.name));
  return {};
}

std::string KeyRemedy(const HttpResponse& answer) {
  if (answer.status != 401 && answer.status != 403) return "";
  switch (answer.key) {
    case KeyUse::kNone:
      return fmt::format("HTTP {}: it needs a key: give --api-key-file FILE, or set TACHO_API_KEY",
                         answer.status);
    case KeyUse::kSent:
      return fmt::format("HTTP {}: it refuses the key that was given", answer.status);
    case KeyUse::kWithheld:
      return fmt::format(
          "HTTP {}: it needs a key, and yours was not sent to it, because you did not name this "
          "server: name its URL too, or give --send-key-to-workers",
          answer.status);
  }
  return "";
}

bool SameHeaderName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return AsciiLower(x) == AsciiLower(y); });
}

std::string_view FindHeader(const std::vector<HttpHeader>& headers, std::string_view name) {
  for (const HttpHeader& header : headers) {
    if (SameHeaderName(header.name, name)) return header.value;
  }
  return {};
}

}  // namespace tacho
