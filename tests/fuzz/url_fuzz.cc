// Any text as an address: what is taken keeps its meaning when it is written and read again, and
// what is refused says why.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/url.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Require(tacho::PercentDecode(tacho::PercentEncode(text)) == text);
  Require(tacho::PercentDecode(text).size() <= text.size());
  const auto url = tacho::ParseUrl(text);
  if (!url) {
    Require(url.error().kind == tacho::ErrorKind::kUsage && !url.error().message.empty());
    return 0;
  }
  Require(url->scheme == "http" || url->scheme == "https");
  Require(!url->host.empty() && url->port != 0);
  Require(url->path.empty() || url->path[0] == '/');
  const auto again = tacho::ParseUrl(url->Origin() + url->path);
  Require(again && again->scheme == url->scheme && again->host == url->host &&
          again->port == url->port && again->path == url->path &&
          again->IsLoopback() == url->IsLoopback());
  const auto with = tacho::ParseUrl(url->With("/health"));
  Require(with && with->Origin() == url->Origin() && with->path.ends_with("/health"));
  return 0;
}
