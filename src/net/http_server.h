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

// A request that the server received.
struct ServerRequest {
  std::string method;
  std::string path;   // percent-decoded, without the query
  std::string query;  // as sent, without '?'
  std::vector<HttpHeader> headers;
  std::string body;
  // CLOCK_MONOTONIC: when the request's last bytes reached this host, by the kernel's stamp
  // (ArrivalClock), or else when the server's thread found them.
  int64_t came_ns = 0;
};

// A request that is being answered. Keep the shared_ptr until the answer is complete; dropping it
// earlier closes the connection. All functions may be called from any thread. Once the peer or the
// server is gone they do nothing.
//
// The functions queue bytes; the server's thread writes them after each batch of events.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual const ServerRequest& request() const = 0;

  // Sends the whole answer at once. Here and in Begin, an invalid header (CheckHeader) makes the
  // answer a 500.
  virtual void Respond(int status, std::string body, std::string content_type,
                       std::vector<HttpHeader> headers = {}) = 0;
  // Sends the answer in pieces, with chunked coding: Begin, any number of Write, End.
  virtual void Begin(int status, std::string content_type,
                     std::vector<HttpHeader> headers = {}) = 0;
  virtual void Write(std::string bytes) = 0;
  virtual void End() = 0;
  // Closes the connection at once, even in the middle of an answer. Queued bytes are first written
  // as far as the kernel takes them without waiting.
  virtual void Abort() = 0;

  // False once the peer is gone.
  virtual bool connected() const = 0;
  // Queued bytes that the kernel has not taken yet: the backlog of a slow reader.
  virtual size_t backlog() const = 0;
};

// Called on the server's thread for each request; it may answer now or later, and must not block.
using HttpHandler = std::function<void(std::shared_ptr<HttpExchange>)>;

// The gate's decision about a request whose head is complete.
struct HttpAdmission {
  int refused = 0;  // the status of a refusal, such as 403; 0: accepted
  std::string why = {};
  uint64_t most_body = 0;  // bytes; a longer body is answered with 413
};
// Called on the server's thread with a request that has no body yet.
using HttpGate = std::function<HttpAdmission(const ServerRequest& head)>;

struct HttpServerOptions {
  HttpGate gate = {};              // empty: all are accepted
  uint64_t most_body = 64u << 20;  // bytes of a request's body, unless the gate says otherwise
  // Limit on the bodies of all unanswered requests together, in bytes; beyond it requests get 503.
  uint64_t most_bodies = 1u << 30;
  uint32_t most_head = 64u << 10;  // bytes of a request's head; a longer one is answered with 431
  // How many connections may be open at a time; a further one is answered with 503. Each connection
  // holds a head and at most 64 kB received during an answer.
  size_t most_connections = 16'384;
  // Unread bytes of an answer in pieces; with more the connection is closed.
  size_t most_backlog = 64u << 20;
  // Time limit for a request's head, and for a pause within its body.
  std::chrono::milliseconds request_timeout{30'000};
  // Time limit for an idle connection.
  std::chrono::milliseconds keep_alive_timeout{120'000};
  // Time limit for a peer that reads nothing of its answer. 0: unlimited.
  std::chrono::milliseconds stall_timeout{0};
  // Sent with every answer, also to bad and refused requests. Must be valid (CheckHeader).
  std::vector<HttpHeader> headers = {};
};

// HTTP/1.1 servers on one thread of their own: any number of listening addresses. Boost.Beast
// parses the requests. A bad request is answered with 400, 413 or 431; one that exceeds a limit of
// HttpServerOptions with 413 or 503.
class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> Create(const HttpServerOptions& options = {});
  // Stops listening, closes all connections and ends the thread. Not from a handler.
  virtual ~HttpServer() = default;

  // Listens on `host`, an IP address or "localhost"; port 0 takes a free one. Returns the port.
  // kOutput: the port is taken or not allowed; kUsage: an invalid address.
  virtual Result<uint16_t> Listen(const std::string& host, uint16_t port, HttpHandler handler) = 0;
  // Stops listening on that port and drops its connections, like a server that dies.
  virtual void Close(uint16_t port) = 0;

  // Calls `job` on the server's thread, at once or at a CLOCK_MONOTONIC time.
  virtual void Post(std::function<void()> job) = 0;
  virtual void At(int64_t monotonic_ns, std::function<void()> job) = 0;
};

}  // namespace tacho
