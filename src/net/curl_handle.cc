#include "net/curl_handle.h"

#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace tacho {
namespace {

// SOCK_CLOEXEC: child processes must not hold connections open. `error` points to an int that gets
// errno, which libcurl does not report.
curl_socket_t OpenSocket(void* error, curlsocktype, curl_sockaddr* address) {
  const int opened = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (opened < 0) *static_cast<int*>(error) = errno;
  return opened;
}

Breakdown BreakdownOf(CURLcode code, std::string_view detail) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return Breakdown::kNoSuchHost;
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Breakdown::kNoSuchProxy;
    case CURLE_COULDNT_CONNECT:
      return Breakdown::kNoConnection;
    case CURLE_OPERATION_TIMEDOUT:
      return Breakdown::kTimedOut;
    case CURLE_PARTIAL_FILE:
      return Breakdown::kEndedEarly;
    case CURLE_GOT_NOTHING:
      return Breakdown::kNothingCame;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_HTTP2:
      return Breakdown::kNotHttp;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_BAD_CONTENT_ENCODING:
      return detail.find("chunk") != std::string_view::npos ? Breakdown::kBrokenChunks
                                                            : Breakdown::kBroken;
    case CURLE_PEER_FAILED_VERIFICATION:
      return Breakdown::kNotTrusted;
    case CURLE_SSL_CACERT_BADFILE:
      return Breakdown::kBadAuthorities;
    case CURLE_SSL_CONNECT_ERROR:
      return Breakdown::kNoTls;
    default:
      return Breakdown::kOther;
  }
}

}  // namespace

CurlHandle::~CurlHandle() {
  Part();
  if (handle_ != nullptr) Curl()->easy_cleanup(handle_);
}

CurlHandle& CurlHandle::Of(CURL* handle) {
  void* self = nullptr;
  Curl()->easy_getinfo(handle, CURLINFO_PRIVATE, &self);
  return *static_cast<CurlHandle*>(self);
}

Result<void> CurlHandle::Open(const HttpRequest& request, const Url& url,
                              const HttpClientOptions& options) {
  handle_ = Curl()->easy_init();
  if (handle_ == nullptr) return Fail(ErrorKind::kBug, "libcurl returned no handle");
  Set(CURLOPT_PRIVATE, this);
  Set(CURLOPT_URL, (url.Origin() + url.path).c_str());
  Set(CURLOPT_PATH_AS_IS, 1L);
  Set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  Set(CURLOPT_NOSIGNAL, 1L);
  // libcurl resolves names on threads. With this option it does not wait for a hanging thread when
  // an exchange ends; waiting would block the loop's other exchanges.
  Set(CURLOPT_QUICK_EXIT, 1L);
  Set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
  Set(CURLOPT_OPENSOCKETDATA, &socket_error_);
  Set(CURLOPT_TCP_NODELAY, 1L);
  // An engine may compute for minutes, so only keepalive can tell that its host has vanished.
  Set(CURLOPT_TCP_KEEPALIVE, 1L);
  Set(CURLOPT_TCP_KEEPIDLE, 30L);
  Set(CURLOPT_TCP_KEEPINTVL, 10L);
  Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  Set(CURLOPT_ERRORBUFFER, detail_);
  if (url.IsLoopback()) Set(CURLOPT_PROXY, "");
  Set(CURLOPT_SSL_VERIFYPEER, options.verify_tls ? 1L : 0L);
  Set(CURLOPT_SSL_VERIFYHOST, options.verify_tls ? 2L : 0L);
  const char* const authorities =
      options.ca_file.empty() ? Curl()->authorities : options.ca_file.c_str();
  if (authorities != nullptr) Set(CURLOPT_CAINFO, authorities);
  return {};
}

void CurlHandle::Join(CURLM* multi) {
  multi_ = multi;
  Curl()->multi_add_handle(multi_, handle_);
}

void CurlHandle::Part() {
  if (multi_ != nullptr) Curl()->multi_remove_handle(std::exchange(multi_, nullptr), handle_);
}

void CurlHandle::TellFailure(CURLcode code, Exchange& exchange) {
  long os_error = 0;
  curl_off_t whole_body = -1;
  Curl()->easy_getinfo(handle_, CURLINFO_OS_ERRNO, &os_error);
  Curl()->easy_getinfo(handle_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &whole_body);
  exchange.GiveUp(BreakdownOf(code, detail_),
                  *detail_ != '\0' ? detail_ : Curl()->easy_strerror(code),
                  os_error != 0 ? static_cast<int>(os_error) : socket_error_, whole_body);
}

}  // namespace tacho
