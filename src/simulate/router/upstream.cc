#include "simulate/router/upstream.h"

#include <algorithm>
#include <utility>

#include "simulate/quiet_exchange.h"

namespace tacho::simulate {
namespace {

// An exchange with another request than the client's; it watches the answer that it passes on.
class ForwardedExchange : public HttpExchange {
 public:
  ForwardedExchange(std::shared_ptr<HttpExchange> to, ForwardOptions options)
      : to_(std::move(to)), options_(std::move(options)) {}
  ~ForwardedExchange() override {
    // Without an answer the exchange was dropped, because the worker died.
    if (!answered_ && !TakenOver(0)) to_->Abort();
    Ended();
  }

  const ServerRequest& request() const override { return options_.request; }
  void Respond(int status, std::string body, std::string content_type,
               std::vector<HttpHeader> headers) override {
    answered_ = true;
    status_ = status;
    if (!TakenOver(status)) {
      to_->Respond(status, std::move(body), std::move(content_type), With(std::move(headers)));
    }
    Ended();
  }
  void Begin(int status, std::string content_type, std::vector<HttpHeader> headers) override {
    answered_ = true;
    status_ = status;
    if (options_.plain_event_stream && content_type.starts_with("text/event-stream")) {
      content_type = "text/event-stream";
    }
    to_->Begin(status, std::move(content_type), With(std::move(headers)));
  }
  void Write(std::string bytes) override { to_->Write(std::move(bytes)); }
  void End() override {
    to_->End();
    Ended();
  }
  void Abort() override {
    if (answered_ || !TakenOver(0)) to_->Abort();
    answered_ = true;
    Ended();
  }
  bool connected() const override { return to_->connected(); }
  size_t backlog() const override { return to_->backlog(); }

 private:
  std::vector<HttpHeader> With(std::vector<HttpHeader> headers) const {
    for (const HttpHeader& add : options_.add_headers) {
      std::erase_if(headers, [&](const HttpHeader& h) { return SameHeaderName(h.name, add.name); });
      headers.push_back(add);
    }
    return headers;
  }
  bool TakenOver(int status) { return options_.instead && options_.instead(status); }
  void Ended() {
    if (options_.ended) std::exchange(options_.ended, nullptr)(status_);
  }
  std::shared_ptr<HttpExchange> to_;
  ForwardOptions options_;
  bool answered_ = false;
  int status_ = 0;
};

// Passes on an answer from another process: a stream in pieces, any other as a whole.
class ForwardingSink : public HttpSink {
 public:
  explicit ForwardingSink(std::shared_ptr<HttpExchange> to) : to_(std::move(to)) {}

  void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t) override {
    status_ = status;
    type_ = FindHeader(headers, "Content-Type");
    streams_ = type_.starts_with("text/event-stream");
    if (const auto id = FindHeader(headers, "X-Request-Id"); !id.empty()) {
      headers_.push_back({"X-Request-Id", std::string(id)});
    }
    if (streams_) to_->Begin(status, type_, headers_);
  }
  void OnBody(std::string_view bytes, int64_t) override {
    if (streams_) {
      to_->Write(std::string(bytes));
    } else {
      body_ += bytes;
    }
  }
  void OnEnd(const Result<HttpTimes>& times) override {
    if (!times || status_ == 0) return to_->Abort();
    if (streams_) return to_->End();
    to_->Respond(status_, std::move(body_), type_, headers_);
  }

 private:
  std::shared_ptr<HttpExchange> to_;
  int status_ = 0;
  bool streams_ = false;
  std::string type_, body_;
  std::vector<HttpHeader> headers_;
};

// Limits on an answer, in bytes.
constexpr uint64_t kMostForwarded = 256u << 20, kMostQuiet = 16u << 20;

void Send(const Upstream& upstream, HttpClient& client,
          const std::shared_ptr<HttpExchange>& exchange, uint64_t most_body) {
  if (upstream.local != nullptr) {
    if (upstream.local->alive()) upstream.local->Handle(exchange);
    return;  // for a dead worker, the exchange is dropped without an answer
  }
  const ServerRequest& request = exchange->request();
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
  outer.most_body = most_body;
  client.Start(std::move(outer), std::make_shared<ForwardingSink>(exchange));
}

}  // namespace

void Forward(const std::shared_ptr<HttpExchange>& exchange, const Upstream& upstream,
             HttpClient& client, ForwardOptions options) {
  Send(upstream, client, std::make_shared<ForwardedExchange>(exchange, std::move(options)),
       kMostForwarded);
}

void AskQuietly(const Upstream& upstream, const std::string& path, HttpClient& client,
                std::function<void(int status, std::string body)> done) {
  ServerRequest request;
  request.method = "GET";
  request.path = path;
  Ask(upstream, std::move(request), client, std::move(done));
}

void Ask(const Upstream& upstream, ServerRequest request, HttpClient& client,
         std::function<void(int status, std::string body)> done) {
  Send(upstream, client, std::make_shared<QuietExchange>(std::move(request), std::move(done)),
       kMostQuiet);
}

}  // namespace tacho::simulate
