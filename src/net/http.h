#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// Names and types that the HTTP client and the HTTP server share.

inline constexpr const char* kJsonType = "application/json";
inline constexpr const char* kTextType = "text/plain; charset=utf-8";

struct HttpHeader {
  std::string name;
  std::string value;
};

// Whether `text` can be the name of a method or of a header.
bool IsHttpToken(std::string_view text);

// Compares two header names without regard to case.
bool SameHeaderName(std::string_view a, std::string_view b);

// The value of the first header named `name` (in any case); "" if there is none.
std::string_view FindHeader(const std::vector<HttpHeader>& headers, std::string_view name);

// kUsage if the header contains CR, LF, NUL or another character that would break the message. The
// error contains neither the value nor an invalid name, because either may be a key.
Result<void> CheckHeader(const HttpHeader& header);

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // absolute: http:// or https://
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  std::chrono::milliseconds connect_timeout{5000};
  // `timeout` limits the whole exchange, `idle_timeout` the time between two bytes. 0: unlimited,
  // because an engine that writes its trace may answer only after minutes.
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds idle_timeout{0};
  // In bytes; a longer body is an error. The default suits the reports of engines and routers about
  // themselves.
  uint64_t most_body = 16u << 20;
};

// The times of an exchange in CLOCK_MONOTONIC nanoseconds; 0 if the event did not happen.
struct HttpTimes {
  int64_t started_ns = 0;  // when the client got the request
  // When the connection was open and the request was about to be written; the kernel gets it some
  // 10 us later. If the request was sent again because a kept-alive connection was closed, this is
  // the time of the last attempt.
  int64_t sent_ns = 0;
  int64_t first_byte_ns = 0;  // when the answer's first byte came
  int64_t ended_ns = 0;
  // True if the times of bytes are the kernel's stamps; false if any is the time at which the
  // client found the bytes.
  bool by_kernel = true;
};

// Whether the client's key (net/keys.h) was sent with a request.
enum class KeyUse { kNone, kSent, kWithheld };

struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers;
  std::string body;
  HttpTimes times;
  KeyUse key = KeyUse::kNone;
};

// What a 401 or 403 answer asks for: "HTTP 401: it wants a key: ...", with the options that supply
// it; "" for any other answer.
std::string KeyRemedy(const HttpResponse& answer);

}  // namespace tacho
