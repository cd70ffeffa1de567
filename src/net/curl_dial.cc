#include "net/curl_dial.h"

#include <unistd.h>

#include <utility>

namespace tacho {

Result<void> CurlDial::Start(CURLM* multi, const HttpClientOptions& options,
                             std::chrono::milliseconds patience) {
  TACHO_RETURN_IF_ERROR(Open(exchange_.request(), exchange_.url(), options));
  Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(patience.count()));
  Set(CURLOPT_CONNECT_ONLY, 1L);
  Set(CURLOPT_FRESH_CONNECT, 1L);
  Set(CURLOPT_CLOSESOCKETFUNCTION, &CurlDial::OnClose);
  Set(CURLOPT_CLOSESOCKETDATA, this);
  Join(multi);
  return {};
}

// libcurl closes its connection when the handle is removed; this keeps the socket open for us.
int CurlDial::OnClose(void* self, curl_socket_t fd) {
  auto& dial = *static_cast<CurlDial*>(self);
  if (fd != dial.wanted_) return close(fd);
  dial.socket_ = FileDescriptor(fd);
  return 0;
}

void CurlDial::OnDone(CURLcode code) {
  if (code != CURLE_OK) {
    TellFailure(code, exchange_);
  } else {
    Curl()->easy_getinfo(handle(), CURLINFO_ACTIVESOCKET, &wanted_);
  }
  Part();
  if (code == CURLE_OK && !socket_) exchange_.GiveUp("libcurl keeps the connection to itself");
  // The callback destroys this object.
  const Dialed dialed = std::move(dialed_);
  dialed(std::move(socket_));
}

}  // namespace tacho
