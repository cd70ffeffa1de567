#include "net/http.h"

#include <algorithm>

#include "base/words.h"

namespace tacho {
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
