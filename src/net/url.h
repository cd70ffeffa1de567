#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// A server's address: "http://10.0.0.5:8000". IPv6 hosts keep their brackets.
struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;
  uint16_t port = 0;
  std::string path;  // with its '/' and its query; may be ""

  std::string Origin() const;                      // "http://host:port"
  std::string With(std::string_view route) const;  // origin + path prefix + "/route"
  bool IsLoopback() const;                         // judged by its text: no name is resolved
};

// "host:port" means http; a missing port means 80 or 443. Scheme and host become lower case.
// kUsage, with what is wrong: a scheme other than http and https, a user name, a fragment, an
// invalid port.
Result<Url> ParseUrl(std::string_view text);

// Makes an address, valid or not, safe to show: a user name and password before '@' and everything
// after '?' become "***". The '@' before a data-parallel rank ("http://host:8000@1") or in a path
// ("/a@b", "./a@b") marks no password, so such text stays.
std::string ShownUrl(std::string_view text);

// Encodes all characters but letters, digits and "-._~" as %XX.
std::string PercentEncode(std::string_view text);
// Decodes %XX; everything else stays as it is, including '+'.
std::string PercentDecode(std::string_view text);

}  // namespace tacho
