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

// Receives one streamed answer, on the client's thread. Nothing here may block. OnHead comes once,
// without interim answers (1xx); it is left out when there was no answer.
class HttpSink {
 public:
  // Bytes from the beginning of a sink that are fetched into the cache before OnBody is called:
  // what it touches had better stand there.
  static constexpr size_t kTouched = 512;

  virtual ~HttpSink() = default;
  // The request's first byte is given to the kernel; a second time when it had to be sent again.
  virtual void OnSent(int64_t /*at_ns*/) {}
  virtual void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t at_ns) = 0;
  // Body bytes as they came, chunked coding removed. `at_ns` is when the last of them reached this
  // host, by the kernel's stamp, over plain http; else when the loop found them readable. Bytes of
  // one read have one time.
  virtual void OnBody(std::string_view bytes, int64_t at_ns) = 0;
  // What comes next and came until then waited for the client, which reads it chunk by chunk. What
  // has the same time all the same was merged by the kernel (arrival_clock.h): the time is that of
  // the last.
  virtual void OnFoundLate(int64_t /*until_ns*/) {}
  // Last of all, exactly once: the exchange is over, in order or not (kRemote; kInterrupted after
  // Cancel).
  virtual void OnEnd(const Result<HttpTimes>& times) = 0;
};

struct HttpClientOptions {
  // Sent to the servers that NameServer names, with every request that has no header of that name;
  // the key as "Authorization: Bearer KEY", "" for none.
  std::vector<HttpHeader> headers = {};
  std::string bearer_key = {};
  bool keys_to_all = false;  // also to servers that nobody named
  bool verify_tls = true;    // against the system's roots
  std::string ca_file = {};  // and those of this PEM file
  size_t most_idle_connections = 4096;
  // Exchanges over plain http too, as those over TLS and through proxies: for tests that hold the
  // two ways against each other.
  bool all_by_libcurl = false;
};

// One HTTP/1.1 client: any number of exchanges at once on one thread (epoll), connections kept
// alive and reused. libcurl finds and reaches servers, and carries what goes over TLS or through a
// proxy; plain http is read from its sockets here, which costs less, and a server that was reached
// within a minute is dialed again at its address. Redirects are
// answers, not followed: an engine never sends one, and a login page must not pass for an engine.
// Proxies of the environment are not used for loopback addresses. A request that goes out on a kept
// connection which the server has just closed is sent once more. Nothing is sent that the request
// does not say but Host, User-Agent, Accept, Content-Length and, to servers that were named, the
// headers of the options: a key does not go to whoever another server's answer names.
//
// What a server may fill has a bound: heads and trailers of an answer
// ResponseParser::kMostHeadBytes, its body HttpRequest::most_body.
//
// All functions may be called from any thread; the destructor not from the client's own. Callbacks
// run on the client's thread.
class HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> Create(const HttpClientOptions& options = {});
  // Cancels what is under way: each sink gets its OnEnd, and must not start anew from there.
  virtual ~HttpClient() = default;

  // This origin is the user's own word: the key and the headers of the options go to it from now
  // on.
  virtual void NameServer(const Url& url) = 0;
  // What becomes of them in a request to this origin.
  virtual KeyUse KeyUseFor(const Url& url) const = 0;
  // Another's words with "***" where they repeat a key. Errors and refusals (3xx to 5xx) that Fetch
  // gives are so already.
  virtual std::string WithoutKeys(std::string text) const = 0;

  // One exchange from end to end. kRemote: no connection, no HTTP, time-out, too long a body, a
  // body that ended early. A status such as 404 is an answer, not an error. kInterrupted: stop was
  // requested.
  virtual Result<HttpResponse> Fetch(const HttpRequest& request, std::stop_token stop = {}) = 0;

  // All of them at the same time: the requests are written back to back. Results in the order of
  // `requests`; `ended` is called with the index as each ends, before this returns (on the caller's
  // thread for a request that cannot be made).
  virtual std::vector<Result<HttpResponse>> FetchAll(
      const std::vector<HttpRequest>& requests, std::stop_token stop = {},
      const std::function<void(size_t, const Result<HttpResponse>&)>& ended = {}) = 0;

  // Streams: the answer goes to `sink` as it comes, perhaps before this returns. Gives the number
  // that Cancel takes. After a Cancel on the client's thread the sink hears nothing but OnEnd.
  virtual uint64_t Start(HttpRequest request, std::shared_ptr<HttpSink> sink) = 0;
  virtual void Cancel(uint64_t stream) = 0;

  // Calls `job` on the client's thread, at once or at a CLOCK_MONOTONIC time (timerfd: late by
  // tens of microseconds on a quiet machine).
  virtual void Post(std::function<void()> job) = 0;
  virtual void At(int64_t monotonic_ns, std::function<void()> job) = 0;
};

}  // namespace tacho
