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
// called once, for the final answer (not for interim 1xx ones), and not at all if no answer comes.
class HttpSink {
 public:
  // The client prefetches this many bytes of a sink before it calls OnBody. So the members that
  // OnBody uses should come first in a sink.
  static constexpr size_t kTouched = 512;

  virtual ~HttpSink() = default;
  // Called when the connection is open and the request is about to be written; called again if the
  // request is sent again.
  virtual void OnSent(int64_t /*at_ns*/) {}
  virtual void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t at_ns) = 0;
  // Body bytes as they came, without chunked coding. `at_ns` over plain http: when the last of them
  // reached this host, by the kernel's stamp; otherwise: when the loop found them readable. The
  // bytes of one read share a time.
  virtual void OnBody(std::string_view bytes, int64_t at_ns) = 0;
  // Called before the client reads bytes late: those that came until `until_ns`. The client reads
  // them chunk by chunk, so that each chunk gets its own time. If chunks still share a time, the
  // kernel merged them (arrival_clock.h) and the time is that of the last one.
  virtual void OnFoundLate(int64_t /*until_ns*/) {}
  // The last call, made exactly once: the exchange is over, complete or failed (kRemote;
  // kInterrupted after Cancel).
  virtual void OnEnd(const Result<HttpTimes>& times) = 0;
};

struct HttpClientOptions {
  // Sent to the servers given to NameServer; a request's own header of the same name wins. The key
  // is sent as "Authorization: Bearer KEY"; "" for none.
  std::vector<HttpHeader> headers = {};
  std::string bearer_key = {};
  bool keys_to_all = false;  // sends both also to servers not given to NameServer
  bool verify_tls = true;    // against the system's root certificates
  std::string ca_file = {};  // PEM file with more trusted root certificates
  size_t most_idle_connections = 4096;
  // Lets libcurl handle plain http too, for tests that compare both ways.
  bool all_by_libcurl = false;
};

// An HTTP/1.1 client: any number of exchanges at once on one thread (epoll), over connections that
// are kept alive and reused. If the server has just closed a kept connection, the client sends the
// request once more.
//
// libcurl resolves names, connects, and handles TLS and proxies. The client reads plain http from
// the sockets itself, which costs less. If it reached a server within the last minute, it connects
// to the same address again without libcurl. It uses no proxy from the environment for loopback
// addresses. It returns redirects as answers and does not follow them: an engine never sends one,
// and a login page must not pass for an engine.
//
// It sends the request's own headers, Host, User-Agent, Accept, Content-Length and, to named
// servers, the headers of the options. So a key never goes to a server whose address came only from
// another server's answer.
//
// Answers are bounded: heads and trailers by ResponseParser::kMostHeadBytes, bodies by
// HttpRequest::most_body.
//
// All functions may be called from any thread, but the destructor not from the client's own thread.
// Callbacks run on the client's thread.
class HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> Create(const HttpClientOptions& options = {});
  // Cancels open exchanges: each sink gets its OnEnd, which must not start another exchange.
  virtual ~HttpClient() = default;

  // Call it for an origin that the user named: the options' key and headers go to it from now on.
  virtual void NameServer(const Url& url) = 0;
  // Whether the options' key and headers are sent to this origin.
  virtual KeyUse KeyUseFor(const Url& url) const = 0;
  // Returns `text`, written by others, with "***" in place of each key. Fetch has already cleaned
  // its errors and refusals (3xx to 5xx) this way.
  virtual std::string WithoutKeys(std::string text) const = 0;

  // Makes one exchange and waits for its end. kRemote: no connection, no HTTP, a timeout, a body
  // that is too long or ended early. A status such as 404 is an answer, not an error. kInterrupted:
  // `stop` was requested.
  virtual Result<HttpResponse> Fetch(const HttpRequest& request, std::stop_token stop = {}) = 0;

  // Fetches all requests at the same time, written back to back. The results are in the order of
  // `requests`. `ended` is called with the index and result of each request when it ends, before
  // FetchAll returns. For a request that cannot be made, it is called on the caller's thread.
  virtual std::vector<Result<HttpResponse>> FetchAll(
      const std::vector<HttpRequest>& requests, std::stop_token stop = {},
      const std::function<void(size_t, const Result<HttpResponse>&)>& ended = {}) = 0;

  // Streams the answer to `sink`, whose first calls may come before Start returns. Returns the
  // stream's number for Cancel. After a Cancel on the client's thread the sink gets only OnEnd.
  virtual uint64_t Start(HttpRequest request, std::shared_ptr<HttpSink> sink) = 0;
  virtual void Cancel(uint64_t stream) = 0;

  // Calls `job` on the client's thread, at once or at a CLOCK_MONOTONIC time. On a quiet machine a
  // timed job is tens of microseconds late (timerfd).
  virtual void Post(std::function<void()> job) = 0;
  virtual void At(int64_t monotonic_ns, std::function<void()> job) = 0;
};

}  // namespace tacho
