#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "net/url.h"

namespace tacho {

// When the bytes were found that libcurl reads in this turn.
struct FoundBytes {
  int64_t at_ns = 0;
  const char* last = nullptr;  // given to an exchange
};

// One request and its answer as a libcurl easy handle. Prepared on any thread, then used on the
// client's loop thread alone. Stays where it is: libcurl holds its address.
class CurlExchange {
 public:
  // kUsage: a bad URL, or a header that would break the request.
  static Result<std::unique_ptr<CurlExchange>> Prepare(uint64_t number, HttpRequest request,
                                                       uint64_t most_body,
                                                       const HttpClientOptions& options,
                                                       std::shared_ptr<HttpSink> sink);
  ~CurlExchange();
  CurlExchange(const CurlExchange&) = delete;
  CurlExchange& operator=(const CurlExchange&) = delete;
  // The exchange that a handle belongs to.
  static CurlExchange& Of(CURL* handle);

  CURL* handle() const { return handle_; }
  uint64_t number() const { return number_; }
  const HttpRequest& request() const { return request_; }
  const HttpTimes& times() const { return times_; }
  int64_t last_bytes_ns() const { return last_bytes_ns_; }
  Error IdleError() const;

  // `found` is read and kept up to date whenever bytes come. Before the handle is used.
  void Begin(FoundBytes* found) { found_ = found; }
  // No call to the sink from now on but the last.
  void Mute() { muted_ = true; }

  // Gives the sink its last call, after the handle left the multi handle.
  void EndWith(CURLcode code);
  void EndWith(Error error);

 private:
  CurlExchange(uint64_t number, HttpRequest request, uint64_t most_body,
               std::shared_ptr<HttpSink> sink);
  Result<void> SetUp(const HttpClientOptions& options);
  void SetMethod();
  Result<void> SetHeaders(const HttpClientOptions& options);

  static int OnSend(void* self, char*, char*, int, int);
  static size_t OnHeaderLine(char* bytes, size_t one, size_t size, void* self);
  static size_t OnBodyBytes(char* bytes, size_t one, size_t size, void* self);
  bool TakeHeaderLine(std::string_view line);
  bool TakeBody(std::string_view bytes);
  int64_t FoundNs();
  std::string Route() const;  // without the query, which may be long
  // Ends the exchange with this from within a callback.
  void GiveUp(std::string message);

  const uint64_t number_;
  const HttpRequest request_;
  const uint64_t most_body_;
  std::shared_ptr<HttpSink> sink_;
  Url url_;
  CURL* handle_ = nullptr;
  curl_slist* header_list_ = nullptr;
  FoundBytes* found_ = nullptr;
  HttpTimes times_;
  int64_t last_bytes_ns_ = 0;
  int attempts_ = 0;
  int status_ = 0;
  bool head_given_ = false;
  bool muted_ = false;
  uint64_t head_bytes_ = 0;
  uint64_t body_bytes_ = 0;
  std::vector<HttpHeader> headers_;
  std::string gave_up_;  // why a callback ended the exchange
  char detail_[CURL_ERROR_SIZE] = {};
};

}  // namespace tacho
