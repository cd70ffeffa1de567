#pragma once

#include <string>
#include <vector>

#include "net/http_server.h"

namespace tacho {

// A whole HTTP answer.
struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::string content_type = kJsonType;
  std::vector<HttpHeader> headers = {};
};

// An answer with the body {"error": why}.
HttpAnswer ErrorAnswer(int status, std::string_view why);
// The status is 400 for kUsage, 404 for kUnreadable, else 500.
HttpAnswer ErrorAnswer(const Error& error);

// Sends `answer`. Browsers and proxies may not store it, unless it has its own Cache-Control.
void SendAnswer(HttpExchange& exchange, HttpAnswer answer);

}  // namespace tacho
