#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/http.h"
#include "net/url.h"

namespace tacho {

// How far a failed exchange came.
struct FailedExchange {
  CURL* handle = nullptr;
  CURLcode code = CURLE_OK;
  const char* detail = "";  // libcurl's own words
  const HttpRequest& request;
  const Url& url;
  bool sent = false;      // the request went out
  bool has_head = false;  // the answer's head came
  uint64_t body_bytes = 0;
};

// Says what went wrong where, and what to do about it.
Error ErrorOfExchange(const FailedExchange& failed);

// "5 s", "250 ms".
std::string ShowTimeout(std::chrono::milliseconds time);

}  // namespace tacho
