#include "run/read_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kRunOfTwo = R"({"workers": [
  {"name": "w0", "url": "http://a", "clock_offset_ns": 500, "clock_error_ns": 20},
  {"name": "w1", "url": "http://b", "data_parallel": 2}]})";

TEST(RequestsOf, ARecordHasItsTimesTokensAndWorker) {
  const RequestTable table = RequestsOf(
      R"({"index":0,"id":"r-0","scenario":"chat","url":"http://a","status":"done","server_id":"cmpl-7","handed_ns":90,"sent_ns":100,"first_token_ns":130,"last_token_ns":160,"ended_ns":170,"sent_unix_ns":5100,"ended_unix_ns":5171,"prompt_tokens":24,"output_tokens":3,"chunk_dt_ns":[30,30],"chunk_tokens":[1,2]}
not a record
{"index":1,"url":"http://router","status":"failed","output_tokens":0,"ended_unix_ns":9000})",
      kRunOfTwo);
  ASSERT_THAT(table.rows, SizeIs(2));
  const Request& request = table.rows[0];
  EXPECT_EQ(request.id, "r-0");
  EXPECT_EQ(request.server_id, "cmpl-7");
  EXPECT_EQ(request.worker, 0u);
  EXPECT_TRUE(request.whole);
  EXPECT_EQ(request.handed, TimeNs{5090});
  EXPECT_EQ(request.sent, TimeNs{5100});
  EXPECT_EQ(request.first_token, TimeNs{5130});
  EXPECT_EQ(request.last_token, TimeNs{5160});
  EXPECT_EQ(request.ended, TimeNs{5171});
  EXPECT_EQ(request.prompt_tokens, 24);
  EXPECT_EQ(request.cached_tokens, std::nullopt);
  ASSERT_EQ(request.end_chunk - request.first_chunk, 2u);
  EXPECT_EQ(table.chunks[1].at, TimeNs{5160});
  EXPECT_EQ(table.chunks[1].tokens, 2u);
  EXPECT_EQ(table.rows[1].worker, Request::kNoWorker);
  EXPECT_FALSE(table.rows[1].sent);
  EXPECT_EQ(table.rows[1].ended, TimeNs{9000});
  EXPECT_TRUE(table.workers[1].several_engines);
  EXPECT_EQ(table.clocks.Between({ClockOf::kClient}, {ClockOf::kHost, 0}),
            (ClockShift{{500}, DurationNs{20}}));
  EXPECT_FALSE(table.clocks.Between({ClockOf::kClient}, {ClockOf::kHost, 1}));
}

TEST(RequestsOf, RequestsInFlightAreByTheClockOfTheWorker) {
  const RequestTable table = RequestsOf(
      R"({"url":"http://a","status":"done","sent_ns":1,"sent_unix_ns":1000,"ended_unix_ns":1100}
{"url":"http://b","status":"done","sent_ns":1,"sent_unix_ns":3000,"ended_unix_ns":3100}
{"url":"http://a","status":"cancelled","sent_ns":1,"sent_unix_ns":5000,"ended_unix_ns":5100})",
      kRunOfTwo);
  const auto in_flight = InFlightAt(table, 0);
  ASSERT_TRUE(in_flight);
  EXPECT_THAT(in_flight->when.intervals(),
              ElementsAre(Interval{{1500}, {1600}}, Interval{{5500}, {1'000'005'600}}));
  EXPECT_EQ(in_flight->uncertainty.ns, 1'000'020);
  EXPECT_FALSE(in_flight->shared);
  EXPECT_FALSE(InFlightAt(table, 1)) << "the clock of its host is not known";
}

TEST(RequestsOf, DamagedRecordsAreHarmless) {
  const RequestTable table = RequestsOf(
      R"({"url":7,"status":[],"sent_ns":-5,"sent_unix_ns":9223372036854775807,"ended_unix_ns":1e30}
{"sent_ns":1,"sent_unix_ns":2,"ended_unix_ns":3,"chunk_dt_ns":[9223372036854775807,9223372036854775807,"x"],"chunk_tokens":[1,-1,1]}
{"sent_ns":1,"sent_unix_ns":2,"chunk_dt_ns":[1],"chunk_tokens":[]}
[1]

{"cut)",
      R"({"workers": [7, {"name": 1, "clock_offset_ns": 9223372036854775807}]})");
  ASSERT_THAT(table.rows, SizeIs(3));
  EXPECT_FALSE(table.rows[0].sent);
  EXPECT_FALSE(table.rows[0].ended);
  EXPECT_EQ(table.rows[2].end_chunk - table.rows[2].first_chunk, 0u);
  EXPECT_TRUE(InFlightAt(table, 0));
  EXPECT_THAT(RequestsOf("", "").rows, IsEmpty());
  EXPECT_THAT(ReadRequests("/nowhere").rows, IsEmpty());
}

}  // namespace
}  // namespace tacho
