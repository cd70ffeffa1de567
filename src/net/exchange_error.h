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
  kNothingCame,  // no answer came before the connection ended
  kEndedInHead,  // the connection ended within the headers of the answer
  kEndedEarly,   // the connection ended within the body of the answer
  kNotHttp,
  kBrokenChunks,
  kBroken,          // by a reset, or because the host vanished
  kNotTrusted,      // the server's certificate is not trusted
  kBadAuthorities,  // the file of certificate authorities that the user gave is bad
  kNoTls,
  kOther,  // `detail` says more
};

// How an exchange failed, and how far it got.
struct FailedExchange {
  Breakdown what = Breakdown::kOther;
  std::string detail = {};  // more about the failure, such as libcurl's own words
  int os_error = 0;         // why there was no connection, if so
  const HttpRequest& request;
  const Url& url;
  bool sent = false;      // the request went out
  bool has_head = false;  // the answer's head came
  uint64_t body_bytes = 0;
  int64_t whole_body = -1;  // total bytes of the body; -1: the head does not say
};

// Says what went wrong, where, and what to do.
Error ErrorOfExchange(const FailedExchange& failed);

// A timeout as text: "5 s", "250 ms".
std::string ShowTimeout(std::chrono::milliseconds time);

// Whether the environment sets a proxy, which requests to other hosts may use.
bool EnvironmentNamesProxy();

}  // namespace tacho
