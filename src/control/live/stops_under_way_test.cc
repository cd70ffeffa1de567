#include "control/live/stops_under_way.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "net/http_server.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;

PlannedStop StopOf(uint16_t port) {
  PlannedStop stop;
  stop.facts.kind = EngineKind::kVllm;
  stop.request = {fmt::format("http://127.0.0.1:{}", port), "/stop_profile", ""};
  return stop;
}

TEST(StopsUnderWay, AnswersComeOneByOneAndAMissingOneIsGivenUp) {
  auto server = HttpServer::Create().value();
  const uint16_t quick = server
                             ->Listen("127.0.0.1", 0,
                                      [](std::shared_ptr<HttpExchange> exchange) {
                                        exchange->Respond(200, "", "text/plain");
                                      })
                             .value();
  std::shared_ptr<HttpExchange> held;  // never answered
  const uint16_t silent =
      server
          ->Listen("127.0.0.1", 0,
                   [&](std::shared_ptr<HttpExchange> exchange) { held = std::move(exchange); })
          .value();
  auto client = HttpClient::Create().value();
  StopsUnderWay stops(*client, 2, milliseconds(0));
  EXPECT_TRUE(stops.AllAnswered(milliseconds(0)));
  stops.Ask(1, StopOf(quick));
  EXPECT_TRUE(stops.AllAnswered(milliseconds(30'000)));
  EXPECT_TRUE(stops.TookNs(1).has_value());
  stops.Ask(0, StopOf(silent));
  EXPECT_FALSE(stops.AllAnswered(milliseconds(100)));
  EXPECT_FALSE(stops.TookNs(0).has_value());
  EXPECT_GE(stops.ElapsedNs(0), 100'000'000);

  stops.GiveUp();
  const std::map<size_t, ControlOutcome> outcomes = stops.Take();
  EXPECT_EQ(outcomes.at(0).verdict, ControlVerdict::kNoAnswer);
  EXPECT_EQ(outcomes.at(1).verdict, ControlVerdict::kDone);
  EXPECT_FALSE(stops.Asked(1));

  stops.Ask(1, StopOf(quick));  // once more, as before a start and after it
  EXPECT_EQ(stops.Take().at(1).verdict, ControlVerdict::kDone);
}

}  // namespace
}  // namespace tacho
