#include "net/http_date.h"

#include <ctime>
#include <string>

namespace tacho {

std::optional<int64_t> ParseHttpDate(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* const end = strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return timegm(&parts);
}

}  // namespace tacho
