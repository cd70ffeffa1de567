#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/http.h"
#include "net/url.h"

namespace tacho {

// What can go wrong between two machines.
enum class Breakdown {
  kNoSuchHost,
  kNoSuchProxy,
  kNoConnection,
  kTimedOut,
  kNothingCame,  // the connection ended in place of an answer
  kEndedInHead,  // within its headers
  kEndedEarly,   // within its body
  kNotHttp,
  kBrokenChunks,
  kBroken,          // a reset, a host that is gone
  kNotTrusted,      // its certificate
  kBadAuthorities,  // ours, to hold certificates against
  kNoTls,
  kOther,  // `detail` says it
};

// How far a failed exchange came.
struct FailedExchange {
  Breakdown what = Breakdown::kOther;
  std::string detail = {};  // in other words, such as libcurl's
  int os_error = 0;         // of the system, when there was no connection
  const HttpRequest& request;
  const Url& url;
  bool sent = false;      // the request went out
  bool has_head = false;  // the answer's head came
  uint64_t body_bytes = 0;
  int64_t whole_body = -1;  // bytes, where the head says so
};

// Says what went wrong where, and what to do about it.
Error ErrorOfExchange(const FailedExchange& failed);

// "5 s", "250 ms".
std::string ShowTimeout(std::chrono::milliseconds time);

// A proxy that is set for the whole machine: requests to other hosts may go through it.
bool EnvironmentNamesProxy();

}  // namespace tacho
