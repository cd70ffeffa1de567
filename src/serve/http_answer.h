#pragma once

#include <string>
#include <vector>

#include "net/http_server.h"

namespace tacho {

// A whole answer to a request, as a value.
struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::string content_type = kJsonType;
  std::vector<HttpHeader> headers = {};
};

// {"error": why}
HttpAnswer ErrorAnswer(int status, std::string_view why);
// The status is 400 for kUsage, 404 for kUnreadable, 500 for all others.
HttpAnswer ErrorAnswer(const Error& error);

// Sends `answer`. Browsers and proxies may not store it, unless it has a Cache-Control of its own.
void SendAnswer(HttpExchange& exchange, HttpAnswer answer);

}  // namespace tacho
