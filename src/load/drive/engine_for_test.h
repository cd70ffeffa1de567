#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/parse_json.h"
#include "net/http_server.h"

namespace tacho {

// How the engine below times one answer.
struct AnswerForTest {
  int64_t first_ns = 5'000'000;  // time from the request's arrival to the first chunk
  int64_t gap_ns = 1'000'000;    // time between two chunks
  int64_t tokens = 10;
  int64_t tokens_a_chunk = 1;
};

// An engine with exact timing: it writes each chunk at a fixed time after the request's arrival. It
// speaks vLLM's completions API; `script` may answer a request instead and then returns true.
class EngineForTest {
 public:
  using Exchange = std::shared_ptr<HttpExchange>;
  using Script = std::function<bool(EngineForTest&, const Exchange&, const nlohmann::json& body)>;

  explicit EngineForTest(AnswerForTest answer = {}, Script script = {})
      : answer_(answer), script_(std::move(script)) {
    auto server = HttpServer::Create();
    EXPECT_TRUE(server);
    server_ = std::move(*server);
    const auto port =
        server_->Listen("127.0.0.1", 0, [this](Exchange exchange) { Take(exchange); });
    EXPECT_TRUE(port);
    port_ = *port;
  }

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  uint16_t port() const { return port_; }
  HttpServer& server() { return *server_; }
  uint64_t requests() const { return requests_; }
  std::vector<nlohmann::json> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }
  std::vector<std::string> ids() {
    const std::lock_guard lock(mutex_);
    return ids_;
  }

  static std::string Event(const std::string& data) { return "data: " + data + "\n\n"; }
  // A chunk of vLLM's completions with continuous_usage_stats; `total` is the running total.
  static std::string Chunk(const std::string& text, int64_t total, bool last = false) {
    return Event(fmt::format(
        R"({{"id":"cmpl-x","object":"text_completion","created":1,"model":"tiny","choices":[{{"index":0,"text":"{}","logprobs":null,"finish_reason":{},"stop_reason":null}}],"usage":{{"prompt_tokens":7,"total_tokens":{},"completion_tokens":{}}}}})",
        text, last ? "\"length\"" : "null", 7 + total, total));
  }
  static std::string Usage(int64_t total) {
    return Event(fmt::format(
        R"({{"id":"cmpl-x","object":"text_completion","created":1,"model":"tiny","choices":[],"usage":{{"prompt_tokens":7,"total_tokens":{},"completion_tokens":{}}}}})",
        7 + total, total));
  }

  // Streams the answer as vLLM does.
  void Stream(const Exchange& exchange, AnswerForTest answer) {
    const int64_t arrived = MonotonicNs();
    exchange->Begin(200, "text/event-stream; charset=utf-8");
    Step(exchange, answer, arrived + answer.first_ns, 0);
  }

 private:
  void Take(const Exchange& exchange) {
    ++requests_;
    const auto body = ParseJson(exchange->request().body);
    {
      const std::lock_guard lock(mutex_);
      bodies_.push_back(body);
      ids_.emplace_back(FindHeader(exchange->request().headers, "X-Request-Id"));
    }
    if (script_ && script_(*this, exchange, body)) return;
    AnswerForTest answer = answer_;
    if (body.contains("max_tokens")) answer.tokens = body["max_tokens"];
    Stream(exchange, answer);
  }

  void Step(const Exchange& exchange, const AnswerForTest& answer, int64_t at_ns, int64_t total) {
    server_->At(at_ns, [=, this] {
      const int64_t now_total = std::min(answer.tokens, total + answer.tokens_a_chunk);
      const bool last = now_total == answer.tokens;
      std::string bytes = Chunk(" word", now_total, last);
      if (last) bytes += Usage(now_total) + Event("[DONE]");
      exchange->Write(std::move(bytes));
      if (last) return exchange->End();
      Step(exchange, answer, at_ns + answer.gap_ns, now_total);
    });
  }

  const AnswerForTest answer_;
  const Script script_;
  std::atomic<uint64_t> requests_ = 0;
  std::mutex mutex_;
  std::vector<nlohmann::json> bodies_;
  std::vector<std::string> ids_;
  uint16_t port_ = 0;
  std::unique_ptr<HttpServer> server_;  // declared last: its thread uses the members above
};

}  // namespace tacho
