#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "net/http_server.h"

namespace tacho {

// A server for tests that answers from a table: "GET /path" gives a status and a body; anything
// else gives 404.
class FakeEngine {
 public:
  struct Answer {
    int status = 200;
    std::string body;
    std::vector<HttpHeader> headers = {};
  };

  explicit FakeEngine(std::map<std::string, Answer> answers) : answers_(std::move(answers)) {
    server_ = HttpServer::Create().value();
    port_ = server_
                ->Listen("127.0.0.1", 0,
                         [this](std::shared_ptr<HttpExchange> exchange) { Serve(*exchange); })
                .value();
  }

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  // Changes the answer to later requests.
  void Set(const std::string& what, Answer answer) {
    std::lock_guard lock(mutex_);
    answers_[what] = std::move(answer);
  }
  // The requests so far, in the order in which they arrived: "POST /start_profile BODY".
  std::vector<std::string> seen() const {
    std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void Serve(HttpExchange& exchange) {
    const ServerRequest& request = exchange.request();
    std::string what = request.method + " " + request.path;
    std::lock_guard lock(mutex_);
    seen_.push_back(request.body.empty() ? what : what + " " + request.body);
    auto found = answers_.find(what);
    if (found == answers_.end())
      exchange.Respond(404, R"({"detail":"Not Found"})", "application/json");
    else
      exchange.Respond(found->second.status, found->second.body, "application/json",
                       found->second.headers);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Answer> answers_;
  std::vector<std::string> seen_;
  uint16_t port_ = 0;
  std::unique_ptr<HttpServer> server_;  // declared last: its thread uses the members above
};

}  // namespace tacho
