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
// Of kUsage 400, of kUnreadable 404, of all others 500.
HttpAnswer ErrorAnswer(const Error& error);

// Not to be kept by browsers and proxies, unless it has a Cache-Control of its own.
void SendAnswer(HttpExchange& exchange, HttpAnswer answer);

}  // namespace tacho
