#include "serve/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/random_secret.h"
#include "base/words.h"
#include "net/url.h"
#include "serve/parameters.h"

namespace tacho {
namespace {

// The host in "host:port" in lower case; "" if the text has another form.
std::string HostOf(std::string_view authority) {
  std::string_view host = authority, port;
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && !authority.ends_with(']')) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
    if (port.empty()) return "";
  }
  const bool digits = std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? AsciiLowered(host) : "";
}

// The value of a header that must occur exactly once; nullopt if it is missing or repeated.
std::optional<std::string_view> OnlyHeader(const ServerRequest& request, std::string_view name) {
  std::optional<std::string_view> found;
  for (const HttpHeader& header : request.headers) {
    if (!SameHeaderName(header.name, name)) continue;
    if (found) return std::nullopt;
    found = header.value;
  }
  return found;
}

bool IsOfSameHost(const ServerRequest& request) {
  const auto origin = OnlyHeader(request, "Origin"), host = OnlyHeader(request, "Host");
  if (!origin || !host) return false;
  // Behind a proxy that terminates TLS, the page's origin is https.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin->starts_with(scheme))
      return AsciiLowered(origin->substr(scheme.size())) == AsciiLowered(*host);
  }
  return false;
}

}  // namespace

Access::Access(uint16_t port, std::vector<std::string> hosts)
    : cookie_name_(fmt::format("tacho-{}", port)), hosts_(std::move(hosts)) {
  for (std::string& host : hosts_) host = AsciiLowered(host);
  for (const char* own : {"localhost", "127.0.0.1", "[::1]"}) hosts_.emplace_back(own);
}

Result<std::unique_ptr<Access>> Access::Create(uint16_t port, std::vector<std::string> hosts) {
  for (const std::string& host : hosts) {
    if (host.empty() || HostOf(host) != AsciiLowered(host))
      return Fail(ErrorKind::kUsage,
                  fmt::format("\"{}\" is not a host name: give it without scheme and port", host));
  }
  std::unique_ptr<Access> access(new Access(port, std::move(hosts)));
  TACHO_ASSIGN_OR_RETURN(access->token_, RandomSecret());
  TACHO_ASSIGN_OR_RETURN(access->cookie_, RandomSecret());
  TACHO_ASSIGN_OR_RETURN(const std::string folder, RandomSecret());
  access->folder_ = "/" + folder + "/";
  return access;
}

Result<std::string> Access::OneTimeToken() {
  TACHO_ASSIGN_OR_RETURN(const std::string secret, RandomSecret());
  const std::lock_guard lock(mutex_);
  one_time_ = secret;
  return secret;
}

bool Access::IsOurHost(const ServerRequest& request) const {
  const auto given = OnlyHeader(request, "Host");
  return given && std::ranges::find(hosts_, HostOf(*given)) != hosts_.end();
}

bool Access::TakesToken(std::string_view given) {
  if (SameSecret(token_, given)) return true;
  const std::lock_guard lock(mutex_);
  if (!SameSecret(one_time_, given)) return false;
  one_time_.clear();
  return true;
}

bool Access::TakesPass(std::string_view given) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(passes_, [&](const std::string& pass) { return SameSecret(pass, given); }) >
         0;
}

AccessVerdict Access::PassToFolder() {
  constexpr size_t kMost = 16;  // at most this many unused passes are kept
  const auto pass = RandomSecret();
  if (!pass) return {503, pass.error().message};
  const std::lock_guard lock(mutex_);
  if (passes_.size() == kMost) passes_.erase(passes_.begin());
  passes_.push_back(*pass);
  return {303, "", {{"Location", fmt::format(".{}?token={}", folder_, *pass)}}};
}

std::string_view Access::PathOf(const ServerRequest& request) const {
  const std::string_view path = request.path;
  return path.starts_with(folder_) ? path.substr(folder_.size() - 1) : path;
}

bool Access::HasKey(const ServerRequest& request) const {
  constexpr std::string_view kBearer = "bearer ";
  for (const HttpHeader& header : request.headers) {
    const std::string_view value = header.value;
    if (SameHeaderName(header.name, "Authorization") &&
        AsciiLowered(value.substr(0, kBearer.size())) == kBearer &&
        SameSecret(token_, value.substr(kBearer.size()))) {
      return true;
    }
    if (!SameHeaderName(header.name, "Cookie") || !IsInFolder(request)) continue;
    for (std::string_view rest = value; !rest.empty();) {
      std::string_view pair = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      pair.remove_prefix(std::min(pair.size(), pair.find_first_not_of(' ')));
      const size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == cookie_name_ &&
          SameSecret(cookie_, pair.substr(equals + 1))) {
        return true;
      }
    }
  }
  return false;
}

bool Access::MayWrite(const ServerRequest& head) const {
  return IsOurHost(head) && HasKey(head) && IsOfSameHost(head);
}

AccessVerdict Access::Check(const ServerRequest& request) {
  if (!IsOurHost(request)) {
    return {403,
            "this server does not go by the name in the Host header: ask for localhost, or start "
            "tacho view with --allow-host NAME"};
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && request.method != "PUT") {
    return {405, "the methods are GET, HEAD and PUT", {{"Allow", "GET, HEAD, PUT"}}};
  }
  if (request.method == "GET" && PathOf(request) == "/") {
    const auto given = Parameters(request.query).Text("token");
    if (given && !IsInFolder(request) && TakesToken(*given)) return PassToFolder();
    if (given && IsInFolder(request) && TakesPass(*given)) {
      // Without a Path attribute the cookie is valid only for this folder, even if a proxy adds
      // another folder in front of it.
      const std::string cookie =
          fmt::format("{}={}; HttpOnly; SameSite=Strict", cookie_name_, cookie_);
      return {303, "", {{"Location", "./"}, {"Set-Cookie", cookie}}};
    }
  }
  if (!HasKey(request)) {
    return {401,
            "open the address with ?token= that tacho view printed; a program sends that token as "
            "\"Authorization: Bearer TOKEN\""};
  }
  if (!reads && !IsOfSameHost(request)) {
    return {403, "a request that changes something needs an Origin header of the same host"};
  }
  return {};
}

}  // namespace tacho
