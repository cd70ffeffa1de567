#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/http.h"
#include "net/url.h"

namespace tacho {

// The ways in which an exchange can fail.
enum class Breakdown {
  kNoSuchHost,
  kNoSuchProxy,
  kNoConnection,
  kTimedOut,
  kNothingCame,  // the connection ended instead of an answer
  kEndedInHead,  // the connection ended within the headers of the answer
  kEndedEarly,   // the connection ended within the body of the answer
  kNotHttp,
  kBrokenChunks,
  kBroken,          // a reset, or a host that vanished
  kNotTrusted,      // the server's certificate
  kBadAuthorities,  // our own file of certificate authorities
  kNoTls,
  kOther,  // see `detail`
};

// How far a failed exchange got.
struct FailedExchange {
  Breakdown what = Breakdown::kOther;
  std::string detail = {};  // the failure in other words, such as libcurl's
  int os_error = 0;         // if there was no connection
  const HttpRequest& request;
  const Url& url;
  bool sent = false;      // the request went out
  bool has_head = false;  // the answer's head came
  uint64_t body_bytes = 0;
  int64_t whole_body = -1;  // bytes, if the head says how many
};

// Says what went wrong, where, and what to do.
Error ErrorOfExchange(const FailedExchange& failed);

// "5 s", "250 ms".
std::string ShowTimeout(std::chrono::milliseconds time);

// Whether the environment sets a proxy, which requests to other hosts may use.
bool EnvironmentNamesProxy();

}  // namespace tacho
