#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/curl_handle.h"
#include "net/curl_multi.h"
#include "net/exchange.h"

namespace tacho {

// An exchange that libcurl handles from end to end: over TLS, or through a proxy.
class CurlExchange final : public Exchange, private CurlHandle {
 public:
  // `ended` is called from the loop, not from within libcurl. It may destroy the exchange.
  CurlExchange(uint64_t number, HttpRequest request, std::shared_ptr<HttpSink> sink,
               CurlMulti& curl, const std::function<void(Exchange&)>& ended)
      : Exchange(number, std::move(request), std::move(sink)),
        curl_(curl),
        found_(curl.found()),
        ended_(ended) {}
  ~CurlExchange() override;
  // Call it after Exchange::Check.
  Result<void> SetUp(const HttpClientOptions& options);

  void Begin() override { Join(curl_.handle()); }
  void Leave() override { Part(); }

 private:
  void OnDone(CURLcode code) override;
  void SetMethod();
  void SetHeaders();

  static int OnSend(void* self, char*, char*, int, int);
  static size_t OnHeaderLine(char* bytes, size_t one, size_t size, void* self);
  static size_t OnBodyBytes(char* bytes, size_t one, size_t size, void* self);
  bool TakeHeaderLine(std::string_view line);
  bool TakeBodyBytes(std::string_view bytes);
  void Found();

  CurlMulti& curl_;
  FoundBytes& found_;
  const std::function<void(Exchange&)>& ended_;
  curl_slist* header_list_ = nullptr;
  ResponseHead head_;
  uint64_t head_bytes_ = 0;
  bool head_given_ = false;
};

}  // namespace tacho
