#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_server.h"
#include "serve/access.h"
#include "serve/event_hub.h"
#include "serve/http_answer.h"
#include "serve/work_queue.h"

namespace tacho {

struct PageServerOptions {
  std::string host = "127.0.0.1";
  std::optional<uint16_t> port = {};          // 0: any free port; absent: 8137 or the next free one
  std::vector<std::string> allow_hosts = {};  // see Access
  // Origins of pages that may show this one in a frame: "http://localhost:8888", or "self" for the
  // page's own, as behind a proxy. Empty: none may.
  std::vector<std::string> allow_frames = {};
  std::string assets_folder = {};  // folder of the page's files; "": the embedded ones
};

// Answers requests below api/v1/. `what`: "meta", "tiles", ... Several threads call it.
using ApiHandler = std::function<HttpAnswer(std::string_view what, const ServerRequest& request)>;

// Serves the page and its API (API.md) to one user. It checks who may ask (Access), answers
// requests for static files on the server's thread and for events through EventHub, and passes all
// other requests to `api` on 4 threads.
//
// Bounds: 64 connections; 64 waiting requests; heads of 16 kB. Only requests for marks may have a
// body, at most 1 MB, and only with the token or cookie. Closes a connection whose client takes
// nothing of its answer for 30 s.
class PageServer {
 public:
  // `events` must outlive the result. kOutput: the port is taken; kUsage: an invalid host
  // or origin.
  static Result<std::unique_ptr<PageServer>> Start(const PageServerOptions& options, ApiHandler api,
                                                   EventHub& events);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer();

  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] Access& access() { return *access_; }
  // When (CLOCK_MONOTONIC) the last request came that passed the check of Access; the time of the
  // start if there was none.
  [[nodiscard]] int64_t last_request_ns() const { return last_request_ns_; }

 private:
  PageServer(ApiHandler api, EventHub& events, std::string assets_folder);
  Result<void> Open(const PageServerOptions& options);
  uint64_t MostBody(const ServerRequest& head) const;
  void Handle(std::shared_ptr<HttpExchange> exchange);
  void Queue(const std::shared_ptr<HttpExchange>& exchange, std::function<HttpAnswer()> answer);
  void Beat();

  const ApiHandler api_;
  EventHub& events_;
  const std::string assets_folder_;
  std::atomic<int64_t> last_request_ns_ = 0;
  uint16_t port_ = 0;
  std::unique_ptr<Access> access_;
  WorkQueue queue_;
  std::unique_ptr<HttpServer> server_;  // declared last: ends before the queue
};

}  // namespace tacho
