#include "simulate/admission.h"

#include <arpa/inet.h>

#include <string>
#include <string_view>

#include "base/words.h"

namespace tacho::simulate {
namespace {

constexpr uint64_t kMostPrompt = 64u << 20, kMostOrder = 1u << 20;
constexpr int kForbidden = 403;

// Whether a Host header holds an address or localhost, as "HOST:PORT", "HOST" or "[v6]:PORT".
bool IsAddressOrLocalhost(std::string_view host) {
  if (const size_t end = host.find(']'); host.starts_with('[') && end != std::string_view::npos) {
    in6_addr address{};
    return inet_pton(AF_INET6, std::string(host.substr(1, end - 1)).c_str(), &address) == 1;
  }
  const std::string name = AsciiLowered(host.substr(0, host.find(':')));
  in_addr address{};
  return name == "localhost" || name.ends_with(".localhost") ||
         inet_pton(AF_INET, name.c_str(), &address) == 1;
}

bool TakesPrompts(std::string_view path) {
  for (const std::string_view route : {"completions", "/generate", "/tokenize"})
    if (path.ends_with(route)) return true;
  return false;
}

}  // namespace

HttpAdmission AdmitRequest(const ServerRequest& head) {
  const std::string_view site = FindHeader(head.headers, "Sec-Fetch-Site");
  for (const HttpHeader& header : head.headers)
    if (SameHeaderName(header.name, "Origin"))
      return {kForbidden, "a page in a browser may not ask a simulated engine (Origin)"};
  if (!site.empty() && site != "none" && site != "same-origin")
    return {kForbidden, "a page in a browser may not ask a simulated engine (Sec-Fetch-Site)"};
  for (const HttpHeader& header : head.headers)
    if (SameHeaderName(header.name, "Host") && !IsAddressOrLocalhost(header.value))
      return {kForbidden,
              "a simulated engine is asked by its address or as localhost, not by a name"};
  return {.most_body = TakesPrompts(head.path) ? kMostPrompt : kMostOrder};
}

}  // namespace tacho::simulate
