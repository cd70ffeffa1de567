#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// The words that the HTTP client and the HTTP server share.

inline constexpr const char* kJsonType = "application/json";
inline constexpr const char* kTextType = "text/plain; charset=utf-8";

struct HttpHeader {
  std::string name;
  std::string value;
};

// A name of a method or of a header.
bool IsHttpToken(std::string_view text);

// Names of headers have no case.
bool SameHeaderName(std::string_view a, std::string_view b);

// The value of the first header of that name (any case), "" when there is none.
std::string_view FindHeader(const std::vector<HttpHeader>& headers, std::string_view name);

// kUsage: CR, LF, NUL or another character that would break the message. Neither the value nor a
// name that is none is in the error: they may be a key.
Result<void> CheckHeader(const HttpHeader& header);

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // absolute: http:// or https://
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  std::chrono::milliseconds connect_timeout{5000};
  // Of the whole exchange, and without a single byte. 0: as long as it takes; an engine that writes
  // its trace may answer after minutes.
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds idle_timeout{0};
  // Bytes; a longer body is an error. Right for what engines and routers say of themselves.
  uint64_t most_body = 16u << 20;
};

// When an exchange happened, CLOCK_MONOTONIC nanoseconds; 0 where it did not come so far.
struct HttpTimes {
  int64_t started_ns = 0;  // handed to the client
  // The connection stands and the request goes to the kernel next, some 10 us later. Of the last
  // attempt, when a kept-alive connection turned out to be closed.
  int64_t sent_ns = 0;
  int64_t first_byte_ns = 0;  // of the answer
  int64_t ended_ns = 0;
  // When bytes came is by the kernel's stamps, not by when the client found them.
  bool by_kernel = true;
};

// What became of the client's key (net/keys.h) in one request.
enum class KeyUse { kNone, kSent, kWithheld };

struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers;
  std::string body;
  HttpTimes times;
  KeyUse key = KeyUse::kNone;
};

// What an answer of 401 or 403 asks for: "HTTP 401: it wants a key: ...", with the options that
// help; "" for any other.
std::string KeyRemedy(const HttpResponse& answer);

}  // namespace tacho
