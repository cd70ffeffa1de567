#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "net/http_server.h"

namespace tacho::simulate {

// An exchange without a client. Passes the whole answer to `done`; status 0 if no answer came.
class QuietExchange : public HttpExchange {
 public:
  using Done = std::function<void(int status, std::string body)>;
  QuietExchange(ServerRequest request, Done done)
      : request_(std::move(request)), done_(std::move(done)) {}
  ~QuietExchange() override { Tell(0, ""); }
  const ServerRequest& request() const override { return request_; }
  void Respond(int status, std::string body, std::string, std::vector<HttpHeader>) override {
    Tell(status, std::move(body));
  }
  void Begin(int status, std::string, std::vector<HttpHeader>) override { status_ = status; }
  void Write(std::string bytes) override { body_ += bytes; }
  void End() override { Tell(status_, std::move(body_)); }
  void Abort() override { Tell(0, ""); }
  bool connected() const override { return done_ != nullptr; }
  size_t backlog() const override { return 0; }

 private:
  void Tell(int status, std::string body) {
    if (done_) std::exchange(done_, nullptr)(status, std::move(body));
  }
  ServerRequest request_;
  Done done_;
  int status_ = 0;
  std::string body_;
};

}  // namespace tacho::simulate
