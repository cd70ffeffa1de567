#include "net/url.h"

#include <algorithm>

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho {
namespace {

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsNameChar(char c) {
  return IsAlpha(c) || IsDigit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

tl::unexpected<Error> Wrong(std::string_view text, std::string_view what) {
  std::string shown;
  for (const char c : ShownUrl(text).substr(0, 200)) {
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return Fail(ErrorKind::kUsage, "\"" + shown + "\" is not an address of a server: " +
                                     std::string(what) + "; it should look like http://HOST:PORT");
}

// The first number of an IPv4 address such as "127.0.0.1"; -1 for any other text.
int FirstOfIpv4(std::string_view host) {
  int first = -1;
  for (int i = 0; i < 4; ++i) {
    const auto value = TakeNumber<uint8_t>(host);
    if (!value) return -1;
    if (i == 0) first = *value;
    if (i < 3) {
      if (host.empty() || host[0] != '.') return -1;
      host.remove_prefix(1);
    }
  }
  return host.empty() ? first : -1;
}

// Removes the host from the front of `authority`. `text` is the whole URL.
Result<std::string_view> TakeHost(std::string_view text, std::string_view& authority) {
  std::string_view host;
  if (authority.starts_with('[')) {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return Wrong(text, "']' is missing");
    host = authority.substr(0, close + 1);
    const std::string_view inner = host.substr(1, close - 1);
    const bool numeric = std::all_of(inner.begin(), inner.end(), [](char c) {
      return HexDigit(c) >= 0 || c == ':' || c == '.';
    });
    if (!numeric || inner.find(':') == std::string_view::npos) {
      return Wrong(text, "between '[' and ']' there is no IPv6 address");
    }
    authority.remove_prefix(close + 1);
  } else {
    host = authority.substr(0, std::min(authority.find(':'), authority.size()));
    if (!std::all_of(host.begin(), host.end(), IsNameChar)) {
      return Wrong(text, "a host has letters, digits, '-', '.' and '_'");
    }
    authority.remove_prefix(host.size());
  }
  if (host.empty()) return Wrong(text, "the host is missing");
  return host;
}

}  // namespace

std::string Url::Origin() const { return scheme + "://" + host + ":" + std::to_string(port); }

std::string Url::With(std::string_view route) const {
  std::string_view prefix = std::string_view(path).substr(0, path.find('?'));
  while (!prefix.empty() && prefix.back() == '/') prefix.remove_suffix(1);
  while (!route.empty() && route.front() == '/') route.remove_prefix(1);
  return Origin() + std::string(prefix) + "/" + std::string(route);
}

bool Url::IsLoopback() const {
  constexpr std::string_view kMapped = "[::ffff:";
  std::string_view name = host;
  if (name == "localhost" || name == "localhost." || name == "[::1]") return true;
  if (name.starts_with(kMapped) && name.back() == ']') {
    name = name.substr(kMapped.size(), name.size() - kMapped.size() - 1);
  }
  return FirstOfIpv4(name) == 127;
}

Result<Url> ParseUrl(std::string_view text) {
  if (text.empty()) return Wrong(text, "it is empty");
  const bool odd = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
  });
  if (odd) return Wrong(text, "it has a space or a control character");
  if (text.find('#') != std::string_view::npos) return Wrong(text, "'#' has no meaning here");

  Url url{.scheme = "http", .host = {}, .port = 0, .path = {}};
  std::string_view rest = text;
  if (const size_t colon = rest.find("://"); colon != std::string_view::npos) {
    url.scheme = std::string(rest.substr(0, colon));
    std::transform(url.scheme.begin(), url.scheme.end(), url.scheme.begin(), AsciiLower);
    if (url.scheme != "http" && url.scheme != "https") {
      return Wrong(text, "only http and https are spoken");
    }
    rest.remove_prefix(colon + 3);
  }
  const size_t authority_end = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, authority_end);
  url.path = std::string(rest.substr(authority_end));
  if (url.path.starts_with('?')) url.path.insert(0, 1, '/');
  if (authority.find('@') != std::string_view::npos) {
    return Wrong(text, "a name or a password before '@' is not taken");
  }

  TACHO_ASSIGN_OR_RETURN(std::string_view host, TakeHost(text, authority));
  url.host = std::string(host);
  std::transform(url.host.begin(), url.host.end(), url.host.begin(), AsciiLower);

  if (authority.empty()) {
    url.port = url.scheme == "https" ? 443 : 80;
    return url;
  }
  if (authority[0] != ':') return Wrong(text, "after ']' only a port can follow");
  authority.remove_prefix(1);
  if (authority.find(':') != std::string_view::npos) {
    return Wrong(text, "it has too many ':' (an IPv6 address needs brackets)");
  }
  const auto port = ParseWhole<uint16_t>(authority);
  if (!port || *port == 0) return Wrong(text, "a port is a number from 1 to 65535");
  url.port = *port;
  return url;
}

std::string ShownUrl(std::string_view text) {
  const bool is_path = text.find_first_of("/.~") == 0;
  std::string shown;
  if (const size_t scheme = text.find("://"); scheme != std::string_view::npos) {
    shown = text.substr(0, scheme + 3);
    text.remove_prefix(scheme + 3);
  }
  // A password may contain '@', so it ends at the last one.
  if (const size_t at = text.rfind('@'); at != std::string_view::npos && !is_path) {
    const std::string_view before = text.substr(0, at), rank = text.substr(at + 1);
    const bool ranked = !rank.empty() && std::all_of(rank.begin(), rank.end(), IsDigit) &&
                        ParseUrl(before).has_value();
    if (!ranked) {
      shown += "***";
      text.remove_prefix(at);
    }
  }
  const size_t query = text.find('?');
  shown += text.substr(0, query);
  if (query != std::string_view::npos) shown += "?***";
  return shown;
}

std::string PercentEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (IsNameChar(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

}  // namespace tacho
