#pragma once

#include <curl/curl.h>

#include "net/curl_library.h"
#include "net/exchange.h"

namespace tacho {

// A libcurl easy handle with the connection's settings: address, proxy, TLS, timeouts. A derived
// class decides what is transferred. Not movable: libcurl keeps its address.
class CurlHandle {
 public:
  virtual ~CurlHandle();
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;
  static CurlHandle& Of(CURL* handle);

  // Called when the transfer is over. It may destroy this object.
  virtual void OnDone(CURLcode code) = 0;

 protected:
  CurlHandle() = default;
  // kBug: libcurl returned no handle.
  Result<void> Open(const HttpRequest& request, const Url& url, const HttpClientOptions& options);
  template <typename Value>
  void Set(CURLoption option, Value value) {
    Curl()->easy_setopt(handle_, option, value);
  }
  // Join adds the handle to libcurl's multi handle, Part removes it. `multi_` is null while the
  // handle is in no multi handle.
  void Join(CURLM* multi);
  void Part();
  CURL* handle() const { return handle_; }
  void TellFailure(CURLcode code, Exchange& exchange);

 private:
  CURL* handle_ = nullptr;
  CURLM* multi_ = nullptr;
  int socket_error_ = 0;
  char detail_[CURL_ERROR_SIZE] = {};
};

}  // namespace tacho
