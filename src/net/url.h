#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// An address of a server: "http://10.0.0.5:8000". IPv6 hosts keep their brackets.
struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;
  uint16_t port = 0;
  std::string path;  // with its '/', "" when there is none; query included

  std::string Origin() const;                      // "http://host:port"
  std::string With(std::string_view route) const;  // origin + path prefix + "/route"
  bool IsLoopback() const;
};

// "host:port" is taken as http; a missing port as 80 or 443. kUsage with what is wrong.
Result<Url> ParseUrl(std::string_view text);

std::string PercentEncode(std::string_view text);
std::string PercentDecode(std::string_view text);

}  // namespace tacho
