#include "load/result/load_summary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/time.h"
#include "load/result/bench_result.h"
#include "load/result/records_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;

TEST(Summary, FiguresAreThoseOfTheDefinitions) {
  // TTFT 50 and 30 ms; TPOT 10 and 15 ms.
  LoadRecords records = RecordsForTest(
      {RequestForTest(1000, {1050, 1060, 1070}), RequestForTest(1000, {1030, 1040, 1060})});
  records.requests[1].chunk_tokens = {1, 1, 4};
  records.requests[1].output_tokens = 6;
  const LoadSummary all = Summarise(records, {.percents = {50, 99}});
  EXPECT_EQ(all.whole.done, 2u);
  EXPECT_EQ(all.whole.duration_ns, 70 * kNsPerMs);
  EXPECT_EQ(all.whole.output_tokens, 9);
  EXPECT_EQ(all.whole.prompt_tokens, 48);
  EXPECT_DOUBLE_EQ(all.whole.requests_per_s, 2 / 0.07);
  EXPECT_DOUBLE_EQ(all.whole.output_tokens_per_s, 9 / 0.07);
  EXPECT_DOUBLE_EQ(all.whole.ttft.mean, 40 * kNsPerMs);
  EXPECT_DOUBLE_EQ(*all.whole.ttft.At(99), 49.8 * kNsPerMs);
  EXPECT_DOUBLE_EQ(all.whole.tpot.mean, (10 + 6) / 2.0 * kNsPerMs);
  EXPECT_DOUBLE_EQ(all.whole.e2e.mean, 65 * kNsPerMs);
  EXPECT_EQ(all.whole.chunk_gap.count, 4u);
  EXPECT_DOUBLE_EQ(all.whole.chunk_gap.mean, 12.5 * kNsPerMs);
  // By token: 10, 10 and 10, then 20 ms shared by four.
  EXPECT_EQ(all.whole.itl.count, 7u);
  EXPECT_DOUBLE_EQ(all.whole.itl.mean, 50.0 / 7 * kNsPerMs);
  EXPECT_EQ(all.whole.wrong_length, 1u);
  EXPECT_EQ(all.peak_chunks_per_s, 6u);
  EXPECT_EQ(all.concurrency.peak, 2u);
}

// Profilers stop at 1100 ms and the engine writes until 5100 ms: these 4 s are no part of the load.
TEST(Summary, AFlushOfProfilersIsNoPartOfTheLoad) {
  LoadRecords records =
      RecordsForTest({RequestForTest(1000, {1050, 1060, 1070}), RequestForTest(1090, {5150, 5160}),
                      RequestForTest(5110, {5160, 5170}),
                      RequestForTest(1090, {2000, 3000, 4000})});  // from an engine that goes on
  records.MarkFlush(1100 * kNsPerMs, 5100 * kNsPerMs);
  const LoadSummary all = Summarise(records, {.slos = {{}}});
  EXPECT_EQ(all.whole.done, 4u);
  EXPECT_EQ(all.whole.met_flush, 2u);
  EXPECT_EQ(all.whole.duration_ns, 170 * kNsPerMs);
  EXPECT_DOUBLE_EQ(all.whole.output_tokens_per_s, 7 / 0.17);
  EXPECT_EQ(all.whole.ttft.count, 2u);
  EXPECT_DOUBLE_EQ(all.whole.ttft.most, 50 * kNsPerMs);
  EXPECT_DOUBLE_EQ(all.whole.tpot.mean, 10 * kNsPerMs);
  EXPECT_EQ(all.whole.e2e.count, 2u);
  EXPECT_DOUBLE_EQ(all.whole.chunk_gap.most, 10 * kNsPerMs);
  EXPECT_FALSE(all.whole.good.has_value());
  const auto bench = nlohmann::json::parse(
      BenchResultJson(records, all, {}, {.names = {"ttft"}, .percents = {50}, .detailed = true}));
  EXPECT_DOUBLE_EQ(bench["duration"], 0.17);
  EXPECT_DOUBLE_EQ(bench["median_ttft_ms"], 50);
  EXPECT_TRUE(bench["ttfts"][1].is_null());
  EXPECT_TRUE(bench["itls"][1].empty());
}

TEST(Summary, OnlyDoneRequestsHaveTimes) {
  LoadRecords records =
      RecordsForTest({RequestForTest(1000, {1010, 1020}), RequestForTest(1000, {1500, 1600}),
                      RequestForTest(1000, {1100}), RequestForTest(1000, {})});
  records.requests[1].status = RequestStatus::kPartial;
  records.requests[1].error = "broke";
  records.requests[2].status = RequestStatus::kCancelled;
  records.requests[3].status = RequestStatus::kFailed;
  records.requests[3].error = "HTTP 500";
  const LoadSummary all = Summarise(records, {});
  EXPECT_EQ(all.whole.sent, 4u);
  EXPECT_EQ(all.whole.done, 1u);
  EXPECT_EQ(all.whole.partial, 1u);
  EXPECT_EQ(all.whole.cancelled, 1u);
  EXPECT_EQ(all.whole.failed, 1u);
  EXPECT_EQ(all.whole.output_tokens, 2);
  EXPECT_EQ(all.whole.lost_tokens, 3);
  EXPECT_EQ(all.whole.ttft.count, 1u);
  ASSERT_EQ(all.errors.size(), 2u);
  EXPECT_EQ(all.errors[0].count, 1u);
}

TEST(Summary, ErrorsOfOneKindAreOneLine) {
  const std::vector<std::string> errors = {
      "HTTP 500",
      "answer ended after 106 bytes, before its end was marked",
      "HTTP 404",
      "answer ended after 9 bytes, before its end was marked",
      "http://h:1: refused",
      "http://h:2: refused",
      "not complete within 1.5 s (7 bytes so far)",
      "not complete within 30 s (812 bytes so far)",
      "HTTP 500",
      "answer ended after 7 bytes, before its end was marked"};
  LoadRecords records = RecordsForTest({});
  for (const std::string& error : errors) {
    records.requests.push_back(RequestForTest(1000, {}));
    records.requests.back().status = RequestStatus::kFailed;
    records.requests.back().error = error;
  }
  std::vector<std::string> lines;
  for (const ErrorCount& error : Summarise(records, {}).errors)
    lines.push_back(fmt::format("{} {} {}", error.count, error.error, error.figures_differ));
  EXPECT_THAT(lines, testing::UnorderedElementsAre(
                         "3 answer ended after 106 bytes, before its end was marked true",
                         "2 HTTP 500 false", "1 HTTP 404 false", "1 http://h:1: refused false",
                         "1 http://h:2: refused false",
                         "2 not complete within 1.5 s (7 bytes so far) true"));
}

TEST(Summary, GoodputCountsWhatKeepsEverySlo) {
  const LoadRecords records =
      RecordsForTest({RequestForTest(1000, {1050, 1060}), RequestForTest(1000, {1030, 1060}),
                      RequestForTest(1000, {1020})});
  const auto slos = ParseSlos("ttft:40 tpot:20ms");
  ASSERT_TRUE(slos);
  // The first request is late, the second slow; the third has one token and so no TPOT.
  EXPECT_EQ(Summarise(records, {.slos = *slos}).whole.good, 1u);
  EXPECT_FALSE(Summarise(records, {}).whole.good);
  for (const char* bad : {"ttfx:1", "ttft", "ttft:x", "ttft:-1", "ttft:1h", "itl:5"}) {
    EXPECT_FALSE(ParseSlos(bad)) << bad;
  }
}

TEST(Summary, ShowsCoordinatedOmission) {
  LoadRecords records = RecordsForTest({RequestForTest(1300, {1350, 1360})});
  records.requests[0].intended_ns = 1000 * kNsPerMs;
  records.requests[0].admitted_ns = 1299 * kNsPerMs;
  const LoadSummary all = Summarise(records, {.percents = {50}});
  EXPECT_DOUBLE_EQ(all.whole.ttft.mean, 50 * kNsPerMs);
  EXPECT_DOUBLE_EQ(all.whole.intended_ttft.mean, 350 * kNsPerMs);
  EXPECT_DOUBLE_EQ(all.whole.queue.mean, 299 * kNsPerMs);
  EXPECT_DOUBLE_EQ(all.whole.lateness.mean, 1 * kNsPerMs);
}

TEST(Summary, TheSteadyWindowLeavesOutTheWarmUpAndTheEnd) {
  // Ten users, who begin 100 ms apart, send three requests of 1 s each.
  std::vector<RequestRecord> requests;
  for (int64_t user = 0; user < 10; ++user) {
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t sent = 1000 + user * 100 + i * 1000;
      requests.push_back(RequestForTest(sent, {sent + 500, sent + 1000}));
    }
  }
  const LoadSummary all =
      Summarise(RecordsForTest(requests), {.percents = {50}, .most_at_once = 10});
  ASSERT_TRUE(all.window);
  EXPECT_EQ(all.window->from_ns, 1900 * kNsPerMs);
  EXPECT_EQ(all.window->to_ns, 4000 * kNsPerMs);
  ASSERT_TRUE(all.steady);
  // The requests sent from 1.9 s on and before 4 s.
  EXPECT_EQ(all.steady->sent, 21u);
  EXPECT_EQ(all.steady->duration_ns, 2100 * kNsPerMs);
  EXPECT_NEAR(all.steady->output_tokens_per_s, 20, 1.5);
  EXPECT_LT(all.whole.output_tokens_per_s, 16);
  EXPECT_DOUBLE_EQ(all.concurrency.mean, 30.0 / 3.9);
  ASSERT_EQ(all.concurrency.each_second.size(), 4u);
  EXPECT_NEAR(all.concurrency.each_second[0], 5.5, 1e-9);
  EXPECT_NEAR(all.concurrency.each_second[1], 10, 1e-9);
}

TEST(Summary, AWaveCountsInTheSteadyWindowAsFarAsItCameInIt) {
  // Four waves of eight requests of five tokens each; the last token of each wave's second half
  // comes when the first half of the next one is in flight.
  std::vector<RequestRecord> requests;
  for (int64_t wave = 0; wave < 4; ++wave) {
    for (int64_t i = 0; i < 8; ++i) {
      const int64_t sent = 1000 + wave * 1000 + (i < 4 ? 0 : 50);
      requests.push_back(
          RequestForTest(sent, {sent + 200, sent + 400, sent + 600, sent + 800, sent + 1000}));
    }
  }
  const LoadSummary all = Summarise(RecordsForTest(requests), {.most_at_once = 8});
  ASSERT_TRUE(all.steady);
  EXPECT_EQ(all.steady->sent, 28u);
  EXPECT_NEAR(all.steady->output_tokens_per_s / all.steady->requests_per_s, 5, 1e-9);
  EXPECT_NEAR(all.steady->requests_per_s, 8, 0.2);
}

TEST(Summary, UsersWhoThinkAreSteadyAtTheirMedian) {
  // Ten users begin together; after that each has a request in flight a tenth of the time.
  std::vector<RequestRecord> requests;
  for (int64_t user = 0; user < 10; ++user) {
    requests.push_back(RequestForTest(1000, {1050, 1100}));
    for (int64_t i = 1; i < 5; ++i) {
      const int64_t sent = 1000 + i * 1000 + user * 100;
      requests.push_back(RequestForTest(sent, {sent + 50, sent + 100}));
    }
  }
  const LoadSummary all = Summarise(RecordsForTest(requests), {.most_at_once = 10});
  ASSERT_TRUE(all.window);
  EXPECT_DOUBLE_EQ(all.window->level, 0.95);
  EXPECT_EQ(all.window->to_ns - all.window->from_ns, 5000 * kNsPerMs);
}

TEST(Summary, AWindowWithoutASecondRequestForAPlaceIsNotSteady) {
  std::vector<RequestRecord> requests;
  for (int64_t i = 0; i < 8; ++i) requests.push_back(RequestForTest(1000 + i, {1100, 1200 + i}));
  for (int64_t i = 0; i < 3; ++i) requests.push_back(RequestForTest(1300 + i, {1400, 1500}));
  EXPECT_FALSE(Summarise(RecordsForTest(requests), {.most_at_once = 8}).steady);
}

TEST(Summary, SaysWhenTheClientIsTheLimit) {
  LoadRecords records = RecordsForTest({RequestForTest(1000, {1050, 1060})});
  records.requests[0].admitted_ns = 999 * kNsPerMs;
  EXPECT_FALSE(Summarise(records, {}).verdict.client_bound);
  records.requests[0].admitted_ns = 990 * kNsPerMs;
  const ClientVerdict late = Summarise(records, {}).verdict;
  EXPECT_TRUE(late.client_bound);
  EXPECT_THAT(late.why, HasSubstr("sent 10.00 ms late at p99"));
  records.requests[0].admitted_ns = 1000 * kNsPerMs;
  records.client.most_cpu_share = 0.97;
  EXPECT_TRUE(Summarise(records, {}).verdict.client_bound);
}

TEST(Summary, EachScenarioHasItsOwnFigures) {
  LoadRecords records =
      RecordsForTest({RequestForTest(1000, {1050, 1060}), RequestForTest(1000, {1010, 1020})});
  EXPECT_TRUE(Summarise(records, {}).classes.empty());
  records.requests[1].scenario = "rag";
  const LoadSummary all = Summarise(records, {});
  ASSERT_EQ(all.classes.size(), 2u);
  EXPECT_EQ(all.classes[0].scenario, "chat");
  EXPECT_DOUBLE_EQ(all.classes[0].figures.ttft.mean, 50 * kNsPerMs);
  EXPECT_DOUBLE_EQ(all.classes[1].figures.ttft.mean, 10 * kNsPerMs);
}

TEST(Summary, OfNothingIsNothing) {
  const LoadSummary all = Summarise(RecordsForTest({}), {});
  EXPECT_EQ(all.whole.sent, 0u);
  EXPECT_EQ(all.whole.ttft.count, 0u);
  EXPECT_FALSE(all.window);
  EXPECT_EQ(all.verdict.why, "nothing was sent");
}

TEST(Summary, TheClientIsNotJudgedWithoutAnAnswer) {
  LoadRecords records = RecordsForTest({RequestForTest(1000, {})});
  records.requests[0].status = RequestStatus::kFailed;
  records.client.most_cpu_share = 0.97;
  const LoadSummary all = Summarise(records, {});
  EXPECT_FALSE(all.verdict.client_bound);
  EXPECT_EQ(all.verdict.why, "no request was answered");

  // A request that the end of the load cut off within its answer counts as answered.
  records = RecordsForTest({RequestForTest(1000, {1050, 1060})});
  records.requests[0].status = RequestStatus::kCancelled;
  records.client.most_cpu_share = 0.97;
  EXPECT_TRUE(Summarise(records, {}).verdict.client_bound);
}

TEST(Clocks, UnixTimesLieOnTheLineBetweenThePairs) {
  const std::vector<ClockPair> clocks = {{1000, 500'000}, {2000, 501'100}};
  EXPECT_EQ(UnixOf(1000, clocks), 500'000);
  EXPECT_EQ(UnixOf(1500, clocks), 500'550);
  EXPECT_EQ(UnixOf(2500, clocks), 501'600);
  EXPECT_EQ(UnixOf(900, clocks), 499'900);
}

LoadRecords TwentyRequests() {
  std::vector<RequestRecord> requests;
  for (int64_t i = 0; i < 20; ++i) {
    requests.push_back(RequestForTest(1000 + 100 * i, {1010 + 100 * i, 1020 + 100 * i}));
  }
  return RecordsForTest(std::move(requests));
}

TEST(Summary, UnsureTimesAreLeftOutAndTooManyMakeAFigureAbsent) {
  LoadRecords records = TwentyRequests();
  records.requests[0].chunk_ns[0] = records.requests[0].first_token_ns =
      records.requests[0].chunk_ns[1];
  records.requests[0].first_unsure = true;
  records.requests[0].unsure_chunks = 1;
  const auto slos = ParseSlos("ttft:40");
  const LoadSummary one = Summarise(records, {.slos = *slos});
  EXPECT_EQ(one.whole.ttft.count, 19u);
  EXPECT_DOUBLE_EQ(*one.whole.ttft.At(99), 10 * kNsPerMs);
  EXPECT_EQ(one.whole.unsure_first, 1u);
  EXPECT_FALSE(one.whole.good);
  EXPECT_FALSE(one.verdict.client_bound);
  records.requests[1].first_unsure = true;
  const LoadSummary two = Summarise(records, {});
  EXPECT_EQ(two.whole.ttft.count, 0u);
  EXPECT_EQ(two.whole.tpot.count, 0u);
  EXPECT_EQ(two.whole.itl.count, 19u);
  EXPECT_EQ(two.whole.e2e.count, 20u);
  EXPECT_TRUE(two.verdict.client_bound);
  EXPECT_THAT(two.verdict.why, HasSubstr("read 2 of 20 requests too late"));
}

TEST(Summary, TokensOfRequestsThatAreNotDoneAreCountedSeparately) {
  LoadRecords records = TwentyRequests();
  for (size_t i = 10; i < 20; ++i) records.requests[i].status = RequestStatus::kCancelled;
  const LoadFigures all = Summarise(records, {}).whole;
  EXPECT_EQ(all.output_tokens, 20);
  EXPECT_EQ(all.lost_tokens, 20);
  EXPECT_DOUBLE_EQ(all.received_tokens_per_s, 2 * all.output_tokens_per_s);
}

TEST(Summary, ASteadyStateShorterThanASecondIsAbsent) {
  const auto load = [](int64_t requests) {
    std::vector<RequestRecord> all = {RequestForTest(1000, {1500})};
    for (int64_t i = 0; i < requests; ++i) {
      const int64_t at = 1500 + 10 * i;
      all.push_back(RequestForTest(at, {at + 10}));
      all.push_back(RequestForTest(at, {at + 10}));
    }
    return Summarise(RecordsForTest(all), {.most_at_once = 2}).steady.has_value();
  };
  EXPECT_FALSE(load(50));
  EXPECT_TRUE(load(150));
}

}  // namespace
}  // namespace tacho
