#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"
#include "net/url.h"

namespace tacho {

// Receives one streamed answer, on the client's thread. Its functions must not block. OnHead is
// called once, not for interim answers (1xx), and not at all without an answer.
class HttpSink {
 public:
  // The first bytes of a sink, which are prefetched before OnBody: put the members that it touches
  // there.
  static constexpr size_t kTouched = 512;

  virtual ~HttpSink() = default;
  // Called when the kernel gets the request's first byte, and again if the request is sent again.
  virtual void OnSent(int64_t /*at_ns*/) {}
  virtual void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t at_ns) = 0;
  // Body bytes as they came, without chunked coding. `at_ns`: over plain http, when the last of
  // them reached this host by the kernel's stamp; else when the loop found them readable. The bytes
  // of one read share a time.
  virtual void OnBody(std::string_view bytes, int64_t at_ns) = 0;
  // Called when the client reads the next bytes late: those that came up to the time `until_ns`. It
  // then reads chunk by chunk. If chunks still share a time, the kernel merged them
  // (arrival_clock.h) and the time is that of the last one.
  virtual void OnFoundLate(int64_t /*until_ns*/) {}
  // The last call, exactly once: the exchange is over, complete or failed (kRemote; kInterrupted
  // after Cancel).
  virtual void OnEnd(const Result<HttpTimes>& times) = 0;
};

struct HttpClientOptions {
  // Sent to the servers given to NameServer, with every request that has no header of that name.
  // The key is sent as "Authorization: Bearer KEY"; "" for none.
  std::vector<HttpHeader> headers = {};
  std::string bearer_key = {};
  bool keys_to_all = false;  // sends them also to servers not given to NameServer
  bool verify_tls = true;    // against the system's roots
  std::string ca_file = {};  // PEM file with more roots to verify against
  size_t most_idle_connections = 4096;
  // libcurl also handles plain http. For tests that compare both ways.
  bool all_by_libcurl = false;
};

// One HTTP/1.1 client: any number of exchanges at once on one thread (epoll), connections kept
// alive and reused. libcurl resolves and reaches servers, and handles TLS and proxies. Plain http
// is read from the sockets here, which costs less, and a server that was reached within the last
// minute is dialed at its address. The client does not follow redirects but returns them as
// answers: an engine never sends one, and a login page must not pass for an engine. Proxies of the
// environment are not used for loopback addresses. If the server has just closed a kept connection,
// the request is sent once more. Besides the request's own headers only Host, User-Agent, Accept,
// Content-Length and, to named servers, the headers of the options are sent. So a key never goes to
// a server that only another server's answer named.
//
// Answers are bounded: heads and trailers by ResponseParser::kMostHeadBytes, bodies by
// HttpRequest::most_body.
//
// All functions may be called from any thread; the destructor not from the client's own. Callbacks
// run on the client's thread.
class HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> Create(const HttpClientOptions& options = {});
  // Cancels open exchanges: each sink gets its OnEnd, in which it must not start another exchange.
  virtual ~HttpClient() = default;

  // The user named this origin: the key and the headers of the options go to it from now on.
  virtual void NameServer(const Url& url) = 0;
  // Whether the key and the headers of the options are sent to this origin.
  virtual KeyUse KeyUseFor(const Url& url) const = 0;
  // Foreign text with "***" in place of a key. Errors and refusals (3xx to 5xx) from Fetch are
  // already cleaned this way.
  virtual std::string WithoutKeys(std::string text) const = 0;

  // One exchange from end to end. kRemote: no connection, no HTTP, time-out, too long a body, a
  // body that ended early. A status such as 404 is an answer, not an error. kInterrupted: stop was
  // requested.
  virtual Result<HttpResponse> Fetch(const HttpRequest& request, std::stop_token stop = {}) = 0;

  // Fetches all at the same time: the requests are written back to back. Results in the order of
  // `requests`; `ended` is called with the index as each ends, before this returns (on the caller's
  // thread for a request that cannot be made).
  virtual std::vector<Result<HttpResponse>> FetchAll(
      const std::vector<HttpRequest>& requests, std::stop_token stop = {},
      const std::function<void(size_t, const Result<HttpResponse>&)>& ended = {}) = 0;

  // Streams the answer to `sink` as it comes, perhaps before this returns. Returns the number for
  // Cancel. After a Cancel on the client's thread the sink gets only OnEnd.
  virtual uint64_t Start(HttpRequest request, std::shared_ptr<HttpSink> sink) = 0;
  virtual void Cancel(uint64_t stream) = 0;

  // Calls `job` on the client's thread, at once or at a CLOCK_MONOTONIC time (timerfd: late by
  // tens of microseconds on a quiet machine).
  virtual void Post(std::function<void()> job) = 0;
  virtual void At(int64_t monotonic_ns, std::function<void()> job) = 0;
};

}  // namespace tacho
