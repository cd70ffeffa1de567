#include "simulate/upstream.h"

#include <utility>

namespace tacho::simulate {
namespace {

// The same conversation with another request, and with someone who looks on.
class ForwardedExchange : public HttpExchange {
 public:
  ForwardedExchange(std::shared_ptr<HttpExchange> to, ServerRequest request,
                    std::vector<HttpHeader> add_headers, std::function<void(int)> ended)
      : to_(std::move(to)),
        request_(std::move(request)),
        add_headers_(std::move(add_headers)),
        ended_(std::move(ended)) {}
  ~ForwardedExchange() override { Ended(); }

  const ServerRequest& request() const override { return request_; }
  void Respond(int status, std::string body, std::string content_type,
               std::vector<HttpHeader> headers) override {
    status_ = status;
    headers.insert(headers.end(), add_headers_.begin(), add_headers_.end());
    to_->Respond(status, std::move(body), std::move(content_type), std::move(headers));
    Ended();
  }
  void Begin(int status, std::string content_type, std::vector<HttpHeader> headers) override {
    status_ = status;
    headers.insert(headers.end(), add_headers_.begin(), add_headers_.end());
    to_->Begin(status, std::move(content_type), std::move(headers));
  }
  void Write(std::string bytes) override { to_->Write(std::move(bytes)); }
  void End() override {
    to_->End();
    Ended();
  }
  void Abort() override {
    to_->Abort();
    Ended();
  }
  bool connected() const override { return to_->connected(); }
  size_t backlog() const override { return to_->backlog(); }

 private:
  void Ended() {
    if (ended_) std::exchange(ended_, nullptr)(status_);
  }
  std::shared_ptr<HttpExchange> to_;
  ServerRequest request_;
  std::vector<HttpHeader> add_headers_;
  std::function<void(int)> ended_;
  int status_ = 0;
};

// Passes an answer on as it comes from another process.
class ForwardingSink : public HttpSink {
 public:
  explicit ForwardingSink(std::shared_ptr<HttpExchange> to) : to_(std::move(to)) {}

  void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t) override {
    begun_ = true;
    std::vector<HttpHeader> passed;
    if (const auto id = FindHeader(headers, "X-Request-Id"); !id.empty()) {
      passed.push_back({"X-Request-Id", std::string(id)});
    }
    const auto type = FindHeader(headers, "Content-Type");
    to_->Begin(status, type.empty() ? "text/plain" : std::string(type), std::move(passed));
  }
  void OnBody(std::string_view bytes, int64_t) override { to_->Write(std::string(bytes)); }
  void OnEnd(const Result<HttpTimes>& times) override {
    if (!begun_) {
      to_->Respond(500, "Request failed: " + (times ? "" : times.error().message), "text/plain");
    } else if (times) {
      to_->End();
    } else {
      to_->Abort();
    }
  }

 private:
  std::shared_ptr<HttpExchange> to_;
  bool begun_ = false;
};

}  // namespace

void Forward(const std::shared_ptr<HttpExchange>& exchange, ServerRequest request,
             const Upstream& upstream, HttpClient& client, std::vector<HttpHeader> add_headers,
             std::function<void(int status)> ended) {
  if (upstream.rank) {
    request.headers.push_back({"X-data-parallel-rank", std::to_string(*upstream.rank)});
  }
  HttpRequest outer;
  outer.method = request.method;
  outer.url = upstream.url + request.path + (request.query.empty() ? "" : "?" + request.query);
  for (const char* name :
       {"Content-Type", "Authorization", "X-Request-Id", "X-data-parallel-rank"}) {
    if (const auto value = FindHeader(request.headers, name); !value.empty()) {
      outer.headers.push_back({name, std::string(value)});
    }
  }
  outer.body = request.body;
  const auto forwarded = std::make_shared<ForwardedExchange>(
      exchange, std::move(request), std::move(add_headers), std::move(ended));
  if (upstream.local != nullptr) {
    upstream.local->Handle(forwarded);
  } else {
    client.Start(std::move(outer), std::make_shared<ForwardingSink>(forwarded));
  }
}

}  // namespace tacho::simulate
