#include "control/live/probe.h"

#include <fmt/chrono.h>
#include <gmock/gmock.h>

#include "control/fake_engine_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;

Worker At(const std::string& url) {
  Worker worker;
  worker.url = url;
  return worker;
}

TEST(ProbeAll, SeparatesEnginesFromOtherServers) {
  FakeEngine vllm({{"GET /v1/models",
                    {200,
                     R"({"data":[{"id":"m","owned_by":"vllm"}]})",
                     {{"Date", "Sat, 21 Nov 2026 12:16:01 GMT"}}}},
                   {"GET /start_profile", {405, "{}"}},
                   {"GET /version", {200, R"({"version":"0.12.0"})"}}});
  FakeEngine web({{"GET /", {200, "<html>"}}});
  auto client = HttpClient::Create().value();
  auto facts = ProbeAll(*client, {At(vllm.url()), At(web.url()), At("http://127.0.0.1:1")},
                        std::chrono::seconds(5));
  ASSERT_EQ(facts.size(), 3u);
  ASSERT_TRUE(facts[0]) << facts[0].error().message;
  EXPECT_EQ(facts[0]->version, "0.12.0");
  EXPECT_TRUE(facts[0]->profiler.has_http) << "found by 405, without an openapi.json";
  EXPECT_FALSE(facts[0]->profiler.reads_body);
  ASSERT_TRUE(facts[0]->clock_offset_ns);
  EXPECT_GE(*facts[0]->clock_error_ns, 0);
  ASSERT_FALSE(facts[1]);
  EXPECT_THAT(facts[1].error().message, HasSubstr("no vLLM or SGLang"));
  ASSERT_FALSE(facts[2]);
  EXPECT_EQ(facts[2].error().kind, ErrorKind::kRemote);
}

// A server keeps the text of its Date for a second.
TEST(ProbeAll, ADateMayBeASecondOld) {
  const auto unix_ns = [] {
    return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  const std::time_t stamped = std::time(nullptr) - 3;
  const std::string date = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(stamped));
  FakeEngine vllm(
      {{"GET /v1/models", {200, R"({"data":[{"id":"m","owned_by":"vllm"}]})", {{"Date", date}}}}});
  auto client = HttpClient::Create().value();
  const int64_t asked = unix_ns();
  const auto facts = ProbeAll(*client, {At(vllm.url())}, std::chrono::seconds(20));
  const int64_t answered = unix_ns();
  ASSERT_TRUE(facts[0]) << facts[0].error().message;
  // The server's clock was between `date` and two seconds later at some moment of the exchange.
  const int64_t date_ns = stamped * 1'000'000'000;
  const int64_t offset = *facts[0]->clock_offset_ns, error = *facts[0]->clock_error_ns + 1;
  EXPECT_LE(offset - error, date_ns - asked);
  EXPECT_GE(offset + error, date_ns + 2'000'000'000 - answered);
}

TEST(ProbeAll, SendsSglangNothingThatRunsAStepOrStartsAProfile) {
  FakeEngine sglang({{"GET /v1/models", {200, R"({"data":[{"id":"m","owned_by":"sglang"}]})"}}});
  auto client = HttpClient::Create().value();
  auto facts = ProbeAll(*client, {At(sglang.url())}, std::chrono::seconds(5));
  ASSERT_TRUE(facts[0]);
  for (const std::string& request : sglang.seen()) {
    EXPECT_THAT(request, Not(HasSubstr("profile")));
    EXPECT_THAT(request, Not(HasSubstr("health")));
    EXPECT_THAT(request, testing::StartsWith("GET "));
  }
}

TEST(ReadMetricsAll, CountsOrSaysWhyNot) {
  FakeEngine with({{"GET /metrics", {200, "vllm:iteration_tokens_total_count{engine=\"0\"} 9\n"}}});
  FakeEngine without({});
  auto client = HttpClient::Create().value();
  auto snapshots =
      ReadMetricsAll(*client, {At(with.url()), At(without.url())}, std::chrono::seconds(5));
  ASSERT_TRUE(snapshots[0]);
  EXPECT_EQ(snapshots[0]->engines[0].steps, 9);
  EXPECT_GT(snapshots[0]->at_ns, 0);
  ASSERT_FALSE(snapshots[1]);
  EXPECT_THAT(snapshots[1].error().message, HasSubstr("404"));
}

}  // namespace
}  // namespace tacho
