#include "control/live/liveness.h"

#include <gmock/gmock.h>

#include "control/fake_engine_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;

TEST(WhyDead, SeparatesTheDeadFromTheLiving) {
  FakeEngine good({{"GET /health", {200, ""}}}), dead({{"GET /health", {503, ""}}}),
      sglang({{"GET /model_info", {200, "{}"}}});
  auto client = HttpClient::Create().value();
  std::vector<Worker> workers(4);
  std::vector<EngineFacts> facts(4);
  for (EngineFacts& engine : facts) engine.kind = EngineKind::kVllm;
  facts[2].kind = EngineKind::kSglang;
  workers[0].url = good.url();
  workers[1].url = dead.url();
  workers[2].url = sglang.url();
  workers[3].url = "http://127.0.0.1:1";
  EXPECT_THAT(WhyDead(*client, workers, facts, std::chrono::seconds(5)),
              ElementsAre("", "its /health answers 503", "", "connection refused"));
  EXPECT_THAT(sglang.seen(), ElementsAre("GET /model_info")) << "its /health is a forward";
}

TEST(WhyNotReady, AsksWithoutAStep) {
  FakeEngine vllm({{"GET /health", {503, ""}}}), old({{"GET /model_info", {200, "{}"}}}),
      older({{"GET /get_model_info", {200, "{}"}}}),
      paused({{"GET /ready", {503, ""}}, {"GET /model_info", {200, "{}"}}}), router({});
  auto client = HttpClient::Create().value();
  const auto why = [&](const std::string& url, EngineKind kind) {
    return WhyNotReady(*client, url, kind, std::chrono::seconds(5), {}).text;
  };
  EXPECT_EQ(why(vllm.url(), EngineKind::kVllm), "its /health answers 503");
  EXPECT_EQ(why(old.url(), EngineKind::kSglang), "") << "an older one has no /ready";
  EXPECT_EQ(why(older.url(), EngineKind::kSglang), "") << "SGLang 0.5.3 has its old name alone";
  EXPECT_EQ(why(router.url(), EngineKind::kSglang), "its /get_model_info answers 404");
  EXPECT_EQ(why(paused.url(), EngineKind::kSglang), "its /ready answers 503");
  EXPECT_EQ(why("http://127.0.0.1:1", EngineKind::kSglang), "connection refused");
  FakeEngine guarded({{"GET /ready", {401, ""}}});
  EXPECT_EQ(
      WhyNotReady(*client, guarded.url(), EngineKind::kSglang, std::chrono::seconds(5), {}).status,
      401);
  EXPECT_EQ(WhyRouterNotReady(*client, router.url(), std::chrono::seconds(5), {}).text, "");
  EXPECT_EQ(WhyRouterNotReady(*client, "http://127.0.0.1:1", std::chrono::seconds(5), {}).text,
            "connection refused");
}

TEST(WhyDead, AServerWithoutAnAnswerInTimeMayLive) {
  std::vector<std::shared_ptr<HttpExchange>> held;  // the server's thread adds to it until it ends
  auto silent = HttpServer::Create().value();
  auto port = silent->Listen("127.0.0.1", 0, [&](std::shared_ptr<HttpExchange> exchange) {
    held.push_back(std::move(exchange));
  });
  auto client = HttpClient::Create().value();
  Worker worker;
  worker.url = fmt::format("http://127.0.0.1:{}", *port);
  EXPECT_THAT(WhyDead(*client, {worker}, {EngineFacts()}, std::chrono::milliseconds(100)),
              ElementsAre(""));
}

TEST(WhyDead, AServerThatHangsUpIsDead) {
  auto broken = HttpServer::Create().value();
  auto port = broken->Listen(
      "127.0.0.1", 0, [&](const std::shared_ptr<HttpExchange>& exchange) { exchange->Abort(); });
  auto client = HttpClient::Create().value();
  Worker worker;
  worker.url = fmt::format("http://127.0.0.1:{}", *port);
  const std::vector<std::string> why =
      WhyDead(*client, {worker}, {EngineFacts()}, std::chrono::seconds(5));
  EXPECT_THAT(why, ElementsAre(testing::AnyOf("connection closed without an answer",
                                              "connection broken before the answer")));
}

}  // namespace
}  // namespace tacho
