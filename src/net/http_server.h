#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"

namespace tacho {

// A request as the server took it.
struct ServerRequest {
  std::string method;
  std::string path;   // percent-decoded, without the query
  std::string query;  // as sent, without '?'
  std::vector<HttpHeader> headers;
  std::string body;
  // CLOCK_MONOTONIC: when its last bytes reached this host, whenever the server's thread came to
  // read them (ArrivalClock); where the system does not tell, when they were found.
  int64_t came_ns = 0;
};

// One request that is being answered. Keep the shared_ptr for as long as the answer takes; dropping
// it unanswered closes the connection. All functions may be called from any thread, also after the
// peer or the server has gone: then they do nothing.
//
// Bytes are queued, and what was queued in one turn of the server's thread goes to the kernel in
// one write.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual const ServerRequest& request() const = 0;

  // The whole answer at once. A header that no answer may have (CheckHeader) makes it a 500, here
  // and in Begin.
  virtual void Respond(int status, std::string body, std::string content_type,
                       std::vector<HttpHeader> headers = {}) = 0;
  // Or in pieces, with chunked coding: Begin, any number of Write, End.
  virtual void Begin(int status, std::string content_type,
                     std::vector<HttpHeader> headers = {}) = 0;
  virtual void Write(std::string bytes) = 0;
  virtual void End() = 0;
  // Closes the connection at once, in the middle of whatever was being said. What was written goes
  // out first as far as the kernel takes it without waiting.
  virtual void Abort() = 0;

  // False once the peer has gone.
  virtual bool connected() const = 0;
  // Bytes written and not yet taken by the kernel: what a slow reader costs.
  virtual size_t backlog() const = 0;
};

// Called on the server's thread for each request; it may answer now or later, and must not block.
using HttpHandler = std::function<void(std::shared_ptr<HttpExchange>)>;

// What becomes of a request once its head is there.
struct HttpAdmission {
  int refused = 0;  // the status that says so, such as 403; 0: it is taken
  std::string why = {};
  uint64_t most_body = 0;  // bytes; more is answered with 413
};
// Called on the server's thread with a request that has no body yet.
using HttpGate = std::function<HttpAdmission(const ServerRequest& head)>;

struct HttpServerOptions {
  HttpGate gate = {};              // none: all are taken
  uint64_t most_body = 64u << 20;  // bytes of a request's body where no gate says it
  // Bytes of the bodies of all requests that are not answered yet; more is answered with 503.
  uint64_t most_bodies = 1u << 30;
  // Connections at a time; a further one is answered with 503. The head of a request, and what
  // comes while an answer is given, is at most 128 kB of each.
  size_t most_connections = 16'384;
  // Bytes of an answer in pieces that its reader has not taken: then the connection is cut off.
  size_t most_backlog = 64u << 20;
  // How long the head of a request may take, and its body without a single byte.
  std::chrono::milliseconds request_timeout{30'000};
  // How long a connection may be kept without a request.
  std::chrono::milliseconds keep_alive_timeout{120'000};
};

// HTTP/1.1 servers on one thread of their own: any number of listening addresses. Requests are
// taken apart by Boost.Beast; a bad one is answered with 400, 413 or 431, what is
// too much with 413 or 503 (HttpServerOptions).
class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> Create(const HttpServerOptions& options = {});
  // Stops listening, closes all connections, ends the thread. Not from a handler.
  virtual ~HttpServer() = default;

  // Listens on `host`, an IP address or "localhost"; port 0 takes a free one. Gives the port.
  // kOutput: taken, or not allowed; kUsage: no address.
  virtual Result<uint16_t> Listen(const std::string& host, uint16_t port, HttpHandler handler) = 0;
  // Stops listening on that port and drops its connections: what the death of a server looks like
  // from outside.
  virtual void Close(uint16_t port) = 0;

  // Calls `job` on the server's thread, at once or at a CLOCK_MONOTONIC time.
  virtual void Post(std::function<void()> job) = 0;
  virtual void At(int64_t monotonic_ns, std::function<void()> job) = 0;
};

}  // namespace tacho
