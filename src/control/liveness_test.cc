#include "control/liveness.h"

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

}  // namespace
}  // namespace tacho
