#include "net/curl_error.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "net/curl_library.h"

namespace tacho {
namespace {

// libcurl's words as the end of a sentence of ours.
std::string Detail(const FailedExchange& failed) {
  std::string text = *failed.detail != '\0' ? failed.detail : Curl()->easy_strerror(failed.code);
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z')) {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

// A proxy that is set for the whole machine is easily forgotten.
const char* ProxyHint(const Url& url) {
  if (url.IsLoopback()) return "";
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return " (the environment names a proxy)";
  }
  return "";
}

std::string NoConnection(const FailedExchange& failed) {
  long number = 0;
  Curl()->easy_getinfo(failed.handle, CURLINFO_OS_ERRNO, &number);
  switch (number) {
    case ECONNREFUSED:
      return std::string("connection refused: is the server running, and is this its port?") +
             ProxyHint(failed.url);
    case EMFILE:
    case ENFILE:
      return "too many open files: raise the limit (ulimit -n)";
    case EADDRNOTAVAIL:
      return "no free local port: too many connections at once";
    case 0:
      return "cannot connect (" + Detail(failed) + ")";
    default:
      return fmt::format("cannot connect ({})", std::strerror(static_cast<int>(number)));
  }
}

std::string TimedOut(const FailedExchange& failed) {
  const std::string whole = ShowTimeout(failed.request.timeout);
  if (!failed.sent) {
    const bool connect = failed.request.timeout.count() == 0 ||
                         failed.request.connect_timeout < failed.request.timeout;
    return "no connection within " +
           (connect ? ShowTimeout(failed.request.connect_timeout) : whole) +
           ": is the host up, and does a firewall let it through?" + ProxyHint(failed.url);
  }
  if (!failed.has_head) return "no answer within " + whole;
  return fmt::format("answer not complete within {} ({} bytes so far)", whole, failed.body_bytes);
}

std::string EndedEarly(const FailedExchange& failed) {
  curl_off_t whole = -1;
  Curl()->easy_getinfo(failed.handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &whole);
  if (whole >= 0) return fmt::format("answer ended after {} of {} bytes", failed.body_bytes, whole);
  return fmt::format("answer ended after {} bytes, before its end was marked", failed.body_bytes);
}

std::string Broken(const FailedExchange& failed) {
  const std::string_view detail = failed.detail;
  if (detail.find("chunk") != std::string_view::npos) {
    return fmt::format("broken chunked coding after {} bytes of the answer ({})", failed.body_bytes,
                       Detail(failed));
  }
  if (!failed.has_head) {
    return "connection broken before the answer (" + Detail(failed) + "): did the server die?";
  }
  return fmt::format("connection broken after {} bytes of the answer ({}): did the server die?",
                     failed.body_bytes, Detail(failed));
}

std::string WhatHappened(const FailedExchange& failed) {
  switch (failed.code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "no such host: check the name, or give the IP address";
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "no such proxy: check http_proxy and https_proxy in the environment";
    case CURLE_COULDNT_CONNECT:
      return NoConnection(failed);
    case CURLE_OPERATION_TIMEDOUT:
      return TimedOut(failed);
    case CURLE_PARTIAL_FILE:
      return EndedEarly(failed);
    case CURLE_GOT_NOTHING:
      return "connection closed without an answer: did the server die, or does it want https?";
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_HTTP2:
      return "not HTTP: something else answers on this port (" + Detail(failed) + ")";
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_BAD_CONTENT_ENCODING:
      return Broken(failed);
    case CURLE_PEER_FAILED_VERIFICATION:
      return "certificate not trusted (" + Detail(failed) +
             "): name its authority with --cacert FILE, or go without the check: --insecure";
    case CURLE_SSL_CACERT_BADFILE:
      return "certificates of authorities cannot be read (" + Detail(failed) +
             "): check --cacert, or install ca-certificates";
    case CURLE_SSL_CONNECT_ERROR:
      return "no TLS (" + Detail(failed) + "): does it speak http:// instead?";
    case CURLE_OUT_OF_MEMORY:
      return "out of memory";
    default:
      return Detail(failed);
  }
}

}  // namespace

std::string ShowTimeout(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms % 1000 == 0) return fmt::format("{} s", ms / 1000);
  if (ms > 1000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  return fmt::format("{} ms", ms);
}

Error ErrorOfExchange(const FailedExchange& failed) {
  // Until a request is on its way the place is the server, then it is what was asked for.
  std::string where = failed.url.Origin();
  if (failed.sent) where += failed.url.path.substr(0, failed.url.path.find('?'));
  return Error{ErrorKind::kRemote, std::move(where) + ": " + WhatHappened(failed)};
}

}  // namespace tacho
