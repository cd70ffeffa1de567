#include "net/exchange_error.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "base/words.h"

namespace tacho {
namespace {

// The failure's detail, written by others, as the end of our sentence.
std::string Detail(const FailedExchange& failed) {
  std::string text = failed.detail;
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  if (text.size() > 1 && !(text[1] >= 'A' && text[1] <= 'Z')) text[0] = AsciiLower(text[0]);
  return text;
}

// Reminds of a proxy in the environment, which is easily forgotten.
const char* ProxyHint(const Url& url) {
  return !url.IsLoopback() && EnvironmentNamesProxy() ? " (the environment names a proxy)" : "";
}

// Why an exchange failed: `brief` in few words, `rest` with details and advice.
struct Told {
  std::string brief, rest = {};
};

Told NoConnection(const FailedExchange& failed) {
  switch (failed.os_error) {
    case ECONNREFUSED:
      return {"connection refused", std::string(": is the server running, and is this its port?") +
                                        ProxyHint(failed.url)};
    case EMFILE:
    case ENFILE:
      return {"too many open files", ": raise the limit (ulimit -n)"};
    case EADDRNOTAVAIL:
      return {"no free local port", ": too many connections at once"};
    case 0:
      return {"cannot connect", " (" + Detail(failed) + ")"};
    default:
      return {"cannot connect", fmt::format(" ({})", std::strerror(failed.os_error))};
  }
}

Told TimedOut(const FailedExchange& failed) {
  const std::string whole = ShowTimeout(failed.request.timeout);
  if (!failed.sent) {
    const bool connect = failed.request.timeout.count() == 0 ||
                         failed.request.connect_timeout < failed.request.timeout;
    return {
        "no connection within " + (connect ? ShowTimeout(failed.request.connect_timeout) : whole),
        std::string(": is the host up, and does a firewall let it through?") +
            ProxyHint(failed.url)};
  }
  if (!failed.has_head) return {"no answer within " + whole};
  return {"answer not complete within " + whole,
          fmt::format(" ({} bytes so far)", failed.body_bytes)};
}

Told EndedEarly(const FailedExchange& failed) {
  if (failed.whole_body >= 0) {
    return {fmt::format("answer ended after {} of {} bytes", failed.body_bytes, failed.whole_body)};
  }
  return {fmt::format("answer ended after {} bytes, before its end was marked", failed.body_bytes)};
}

Told Broken(const FailedExchange& failed) {
  return {failed.has_head
              ? fmt::format("connection broken after {} bytes of the answer", failed.body_bytes)
              : "connection broken before the answer",
          " (" + Detail(failed) + "): did the server die?"};
}

Told WhatHappened(const FailedExchange& failed) {
  switch (failed.what) {
    case Breakdown::kNoSuchHost:
      return {"no such host", ": check the name, or give the IP address"};
    case Breakdown::kNoSuchProxy:
      return {"no such proxy", ": check http_proxy and https_proxy in the environment"};
    case Breakdown::kNoConnection:
      return NoConnection(failed);
    case Breakdown::kTimedOut:
      return TimedOut(failed);
    case Breakdown::kNothingCame:
      return {"connection closed without an answer",
              ": did the server die, or does it want https?"};
    case Breakdown::kEndedInHead:
      return {"answer ended within its headers"};
    case Breakdown::kEndedEarly:
      return EndedEarly(failed);
    case Breakdown::kNotHttp:
      return {"not HTTP", ": something else answers on this port (" + Detail(failed) + ")"};
    case Breakdown::kBrokenChunks:
      return {fmt::format("broken chunked coding after {} bytes of the answer", failed.body_bytes),
              " (" + Detail(failed) + ")"};
    case Breakdown::kBroken:
      return Broken(failed);
    case Breakdown::kNotTrusted:
      return {"certificate not trusted",
              " (" + Detail(failed) +
                  "): name its authority with --cacert FILE, or go without the check: --insecure"};
    case Breakdown::kBadAuthorities:
      return {"certificates of authorities cannot be read",
              " (" + Detail(failed) + "): check --cacert, or install ca-certificates"};
    case Breakdown::kNoTls:
      return {"no TLS", " (" + Detail(failed) + "): does it speak http:// instead?"};
    case Breakdown::kOther:
      return {Detail(failed)};
  }
  return {};
}

}  // namespace

std::string ShowTimeout(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms % 1000 == 0) return fmt::format("{} s", ms / 1000);
  if (ms > 1000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  return fmt::format("{} ms", ms);
}

bool EnvironmentNamesProxy() {
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

Error ErrorOfExchange(const FailedExchange& failed) {
  // Names the server if the request was not sent yet, else its URL.
  std::string where = failed.url.Origin();
  if (failed.sent) where += failed.url.path.substr(0, failed.url.path.find('?'));
  const Told told = WhatHappened(failed);
  Error error{ErrorKind::kRemote, told.brief + told.rest};
  error.brief_size = static_cast<uint32_t>(told.brief.size());
  return error.WithContext(where);
}

}  // namespace tacho
