#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// The vocabulary that the HTTP client and the HTTP server share.

inline constexpr const char* kJsonType = "application/json";
inline constexpr const char* kTextType = "text/plain; charset=utf-8";

struct HttpHeader {
  std::string name;
  std::string value;
};

// Whether `text` can be the name of a method or of a header.
bool IsHttpToken(std::string_view text);

// Header names are compared without case.
bool SameHeaderName(std::string_view a, std::string_view b);

// The value of the first header of that name (any case); "" if no header has it.
std::string_view FindHeader(const std::vector<HttpHeader>& headers, std::string_view name);

// kUsage: CR, LF, NUL or another character that would break the message. The error contains neither
// the value nor an invalid name, because they may be a key.
Result<void> CheckHeader(const HttpHeader& header);

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // absolute: http:// or https://
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  std::chrono::milliseconds connect_timeout{5000};
  // `timeout` limits the whole exchange, `idle_timeout` the time between two bytes. 0: unlimited;
  // an engine that writes its trace may answer after minutes.
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds idle_timeout{0};
  // Bytes; a longer body is an error. The default suits what engines and routers report about
  // themselves.
  uint64_t most_body = 16u << 20;
};

// The times of an exchange in CLOCK_MONOTONIC nanoseconds; 0 for what did not happen.
struct HttpTimes {
  int64_t started_ns = 0;  // handed to the client
  // When the connection is open; the kernel gets the request some 10 us later. If a kept-alive
  // connection turns out to be closed, this is the time of the last attempt.
  int64_t sent_ns = 0;
  int64_t first_byte_ns = 0;  // of the answer
  int64_t ended_ns = 0;
  // Whether the times of bytes are the kernel's stamps, rather than when the client found the
  // bytes.
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

// What a 401 or 403 answer asks for: "HTTP 401: it wants a key: ...", with the options that help;
// "" for any other answer.
std::string KeyRemedy(const HttpResponse& answer);

}  // namespace tacho
