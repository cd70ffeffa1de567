// Servers that refuse, slow down, die, lie, and never end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/time.h"
#include "load/drive/drive_for_test.h"
#include "net/loopback_port_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using Exchange = EngineForTest::Exchange;

size_t CountOf(const LoadRecords& records, RequestStatus status) {
  return static_cast<size_t>(
      std::count_if(records.requests.begin(), records.requests.end(),
                    [&](const RequestRecord& r) { return r.status == status; }));
}

TEST(DriveFaults, ADeadServerIsGivenUp) {
  const LoopbackPort gone;
  const LoadRecords records = Send(
      Fixed(10'000), {{.url = fmt::format("http://127.0.0.1:{}", gone.port()), .model = "tiny"}});
  EXPECT_THAT(records.ended_early, HasSubstr("and no success between, the last: "));
  EXPECT_THAT(records.ended_early, HasSubstr("connection refused"));
  EXPECT_GE(CountOf(records, RequestStatus::kFailed), 20u);
  EXPECT_LT(records.requests.size(), 1000u);
  EXPECT_EQ(records.requests[0].sent_ns, 0);
}

TEST(DriveFaults, ADeadServerBesideAnotherTakesNothingFromIt) {
  const LoopbackPort gone;
  // The good server's first answer comes after the time at which a dead server alone would be given
  // up.
  EngineForTest good({.first_ns = 4'000 * kNsPerMs});
  PlanOptions options = Fixed(0, 1);
  options.requests.reset();
  options.duration_ns = 4'500 * kNsPerMs;
  options.concurrency = 16;
  const LoadRecords records = Send(
      options,
      {{.url = fmt::format("http://127.0.0.1:{}", gone.port()), .model = "tiny"}, TargetOf(good)});
  EXPECT_EQ(records.ended_early, "");
  EXPECT_EQ(CountOf(records, RequestStatus::kDone), 8u);
  EXPECT_GE(CountOf(records, RequestStatus::kFailed), 20u);
  // The users of the dead server wait longer and longer between requests.
  EXPECT_LT(CountOf(records, RequestStatus::kFailed), 300u);
}

TEST(DriveFaults, ADeadServerIsGivenUpOnceTheOthersHaveFinished) {
  const LoopbackPort gone;
  EngineForTest good({.first_ns = kNsPerMs});
  PlanOptions options = Fixed(2000, 1);
  options.concurrency = 16;
  const DriveTarget dead{.url = fmt::format("http://127.0.0.1:{}", gone.port()), .model = "tiny"};
  const LoadRecords records = Send(options, {dead, TargetOf(good)});
  EXPECT_EQ(CountOf(records, RequestStatus::kDone), 1000u);
  EXPECT_THAT(records.ended_early, HasSubstr("and no success between, the last, at " + dead.url));
  // Eight users who pause for up to a second each would need two minutes for the other half.
  EXPECT_LT(records.ended_ns - records.started_ns, 60 * kNsPerSecond);
}

TEST(DriveFaults, AServerThatComesBackIsUsedAgain) {
  EngineForTest engine({}, [](EngineForTest& self, const Exchange& exchange, const auto&) {
    if (self.requests() < 5 || self.requests() > 8) return false;
    exchange->Respond(503, "starting", "text/plain");
    return true;
  });
  PlanOptions options = Fixed(0, 2);
  options.requests.reset();
  options.duration_ns = 900 * kNsPerMs;
  options.grace_ns = 10'000 * kNsPerMs;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  EXPECT_EQ(CountOf(records, RequestStatus::kFailed), 4u);
  EXPECT_EQ(records.requests.back().status, RequestStatus::kDone);
}

TEST(DriveFaults, RetryAfterIsHeeded) {
  EngineForTest engine({}, [](EngineForTest& self, const Exchange& exchange, const auto&) {
    if (self.requests() > 2) return false;
    exchange->Respond(429, R"({"error":{"message":"slow down"}})", "application/json",
                      {{"Retry-After", "1"}});
    return true;
  });
  PlanOptions options = Fixed(4, 1);
  options.concurrency = 2;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 4u);
  EXPECT_EQ(records.requests[0].error, "HTTP 429: slow down");
  EXPECT_EQ(records.requests[2].status, RequestStatus::kDone);
  EXPECT_GE(records.requests[2].sent_ns - records.requests[0].ended_ns, 1000 * kNsPerMs);
}

TEST(DriveFaults, A404NamesItsRoute) {
  EngineForTest engine({}, [](EngineForTest&, const auto& exchange, const auto&) {
    exchange->Respond(404, R"({"detail":"Not Found"})", "application/json");
    return true;
  });
  DriveTarget target = TargetOf(engine);
  target.route = "/v1/complete?x=1";
  const LoadRecords records = Send(Fixed(1), {target});
  ASSERT_EQ(records.requests.size(), 1u);
  EXPECT_EQ(records.requests[0].error, "POST /v1/complete: HTTP 404: Not Found");
}

TEST(DriveFaults, NobodyWaitsForAPauseWhenNothingIsLeft) {
  EngineForTest engine({.first_ns = kNsPerMs},
                       [](EngineForTest& self, const Exchange& exchange, const auto&) {
                         if (self.requests() != 2) return false;
                         exchange->Respond(429, "", "text/plain", {{"Retry-After", "60"}});
                         return true;
                       });
  PlanOptions options = Fixed(6, 1);
  options.concurrency = 2;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  EXPECT_EQ(CountOf(records, RequestStatus::kDone), 5u);
  EXPECT_EQ(CountOf(records, RequestStatus::kFailed), 1u);
  EXPECT_EQ(records.ended_early, "");
  EXPECT_LT(records.ended_ns - records.started_ns, 30 * kNsPerSecond);
}

TEST(DriveFaults, AnErrorInsideTheStreamFailsThatRequestAlone) {
  EngineForTest engine({}, [](EngineForTest& self, const Exchange& exchange, const auto&) {
    if (self.requests() != 3) return false;
    exchange->Begin(200, "text/event-stream");
    exchange->Write(
        "data: {\"error\": {\"message\": \"Token id 99999 is out of vocabulary\", \"type\": "
        "\"BadRequestError\", \"param\": null, \"code\": 400}}\n\ndata: [DONE]\n\n");
    exchange->End();
    return true;
  });
  PlanOptions options = Fixed(6, 2);
  options.concurrency = 1;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  EXPECT_EQ(CountOf(records, RequestStatus::kDone), 5u);
  EXPECT_EQ(records.requests[2].status, RequestStatus::kFailed);
  EXPECT_EQ(records.requests[2].http_status, 200);
}

TEST(DriveFaults, AResetInTheMiddleKeepsWhatCame) {
  EngineForTest engine({}, [](EngineForTest& self, const Exchange& exchange, const auto&) {
    exchange->Begin(200, "text/event-stream");
    exchange->Write(EngineForTest::Chunk("a", 1) + EngineForTest::Chunk("b", 2));
    self.server().At(MonotonicNs() + 20 * kNsPerMs, [exchange] { exchange->Abort(); });
    return true;
  });
  const LoadRecords records = Send(Fixed(2, 10), {TargetOf(engine)});
  for (const RequestRecord& r : records.requests) {
    EXPECT_EQ(r.status, RequestStatus::kPartial);
    EXPECT_EQ(r.output_tokens, 2);
    EXPECT_GT(r.first_token_ns, r.sent_ns);
    EXPECT_THAT(r.error, HasSubstr("/v1/completions: "));
  }
}

TEST(DriveFaults, AServerThatDiesFailsTheRest) {
  EngineForTest engine({.gap_ns = 20 * kNsPerMs});
  std::jthread killer([&] {
    while (engine.requests() < 8) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    engine.server().Close(engine.port());
  });
  const LoadRecords records = Send(Fixed(12, 20), {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 12u);
  EXPECT_EQ(CountOf(records, RequestStatus::kDone), 0u);
  EXPECT_GT(CountOf(records, RequestStatus::kPartial), 0u);
  for (const RequestRecord& r : records.requests) EXPECT_NE(r.error, "");
}

TEST(DriveFaults, AStreamThatStallsIsGivenUp) {
  EngineForTest engine({}, [](EngineForTest& self, const Exchange& exchange, const auto&) {
    exchange->Begin(200, "text/event-stream");
    exchange->Write(EngineForTest::Chunk("a", 1));
    // The server is alive but sends no more tokens.
    for (int i = 1; i < 100; ++i) {
      self.server().At(MonotonicNs() + i * 50 * kNsPerMs,
                       [exchange] { exchange->Write(": ping\n\n"); });
    }
    return true;
  });
  DriveTarget target = TargetOf(engine);
  target.stall_timeout = std::chrono::milliseconds(300);
  PlanOptions options = Fixed(2, 10);
  const LoadRecords records = Send(options, {target});
  ASSERT_EQ(records.requests.size(), 2u);
  for (const RequestRecord& r : records.requests) {
    EXPECT_EQ(r.status, RequestStatus::kPartial);
    EXPECT_EQ(r.error, "no token for 300 ms: given up");
    EXPECT_EQ(r.output_tokens, 1);
  }
}

TEST(DriveFaults, AStreamThatNeverEndsIsEnded) {
  EngineForTest engine({}, [](EngineForTest&, const Exchange& exchange, const auto&) {
    exchange->Begin(200, "text/event-stream");
    std::string all;
    for (int i = 1; i < 1000; ++i) all += EngineForTest::Chunk("a", i);
    exchange->Write(all);
    return true;
  });
  const LoadRecords records = Send(Fixed(1, 10), {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 1u);
  EXPECT_EQ(records.requests[0].status, RequestStatus::kPartial);
  EXPECT_THAT(records.requests[0].error, HasSubstr("tokens came where 10 were asked for"));
}

TEST(DriveFaults, AConnectionThatStaysOpenAfterTheEndIsClosed) {
  EngineForTest engine({}, [](EngineForTest&, const Exchange& exchange, const auto&) {
    exchange->Begin(200, "text/event-stream");
    exchange->Write(EngineForTest::Chunk("a", 1, true) + EngineForTest::Event("[DONE]"));
    return true;  // the answer never ends
  });
  const LoadRecords records = Send(Fixed(1, 1), {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 1u);
  EXPECT_EQ(records.requests[0].status, RequestStatus::kDone) << records.requests[0].error;
  EXPECT_LT(records.ended_ns - records.started_ns, 5'000 * kNsPerMs);
}

TEST(DriveFaults, WrongUsageIsMarked) {
  EngineForTest engine({}, [](EngineForTest&, const Exchange& exchange, const auto&) {
    exchange->Begin(200, "text/event-stream");
    exchange->Write(EngineForTest::Chunk("a", 1, true) + EngineForTest::Usage(77) +
                    EngineForTest::Event("[DONE]"));
    exchange->End();
    return true;
  });
  const LoadRecords records = Send(Fixed(1, 1), {TargetOf(engine)});
  EXPECT_EQ(records.requests[0].status, RequestStatus::kPartial);
  EXPECT_EQ(records.requests[0].error, "wrong usage: it says 77 output tokens, 1 came");
}

TEST(DriveFaults, ABadAddressOrApiIsRefusedAtOnce) {
  auto client = HttpClient::Create();
  const auto plan = MakePlan(Fixed(1));
  DriveProgress progress;
  EXPECT_EQ(Drive(**client, *plan, {}, progress).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Drive(**client, *plan, {{.url = "ftp://x"}}, progress).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Drive(**client, *plan, {{.url = "http://x", .api = "soap"}}, progress).error().message,
            "no API 'soap' (there are completions, chat, generate)");
}

}  // namespace
}  // namespace tacho
