#pragma once

#include <curl/curl.h>

#include "net/curl_handle.h"
#include "net/dial.h"

namespace tacho {

// Lets libcurl connect to a server: it resolves names, tries addresses of both families and keeps
// the time limits. Then takes over the connected socket.
class CurlDial final : public Dial, private CurlHandle {
 public:
  CurlDial(Exchange& exchange, Dialed dialed) : exchange_(exchange), dialed_(std::move(dialed)) {}
  ~CurlDial() override { Part(); }
  Result<void> Start(CURLM* multi, const HttpClientOptions& options,
                     std::chrono::milliseconds patience);

 private:
  void OnDone(CURLcode code) override;
  static int OnClose(void* self, curl_socket_t fd);

  Exchange& exchange_;
  Dialed dialed_;
  curl_socket_t wanted_ = CURL_SOCKET_BAD;
  FileDescriptor socket_;
};

}  // namespace tacho
