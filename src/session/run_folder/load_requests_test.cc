#include "session/run_folder/load_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "load/result/records_for_test.h"
#include "run/read_requests.h"
#include "session/run_folder/run_json.h"

namespace tacho {
namespace {

using testing::ElementsAre;

constexpr int64_t kMs = 1'000'000, kUnix = 1'000'000'000'000;

class InFlightTest : public testing::Test {
 protected:
  InFlightTest()
      : recording_{.folder = RunFolder::Create(parent_.path(), "r").value(),
                   .deployment = {},
                   .workers = {},
                   .left_out = {},
                   .daemon = {},
                   .plan = {},
                   .load = RecordsForTest({}),
                   .baseline = {},
                   .profiled = {},
                   .clocks = {.monotonic_ns = 0, .unix_ns = kUnix},
                   .starts = {},
                   .interrupted_ns = {},
                   .findings = {}} {
    recording_.load->clocks = {{.monotonic_ns = 0, .unix_ns = kUnix}};
    for (const char* url : {"http://a", "http://b"}) {
      RecordedWorker& worker = recording_.workers.emplace_back();
      worker.expectation.name = recording_.workers.size() == 1 ? "w0" : "w1";
      worker.worker.url = url;
      worker.facts.clock_offset_ns = worker.facts.clock_error_ns = 0;
    }
  }
  RequestRecord& Send(const std::string& url, int64_t sent_ms, int64_t ended_ms) {
    recording_.load->requests.push_back(RequestForTest(sent_ms, {ended_ms}));
    recording_.load->requests.back().url = url;
    return recording_.load->requests.back();
  }
  static Interval At(int64_t begin_ms, int64_t end_ms) {
    return {TimeNs{kUnix + begin_ms * kMs}, TimeNs{kUnix + end_ms * kMs}};
  }

  FolderForTest parent_;
  Recording recording_;
};

TEST_F(InFlightTest, ARequestCountsForItsWorkerAndThroughARouterForAll) {
  Send("http://a", 10, 20);
  Send("http://a", 15, 30);
  Send("http://b", 100, 110);
  Send("http://router", 200, 210);
  RunInFlight in_flight = InFlightOf(recording_);
  ASSERT_EQ(in_flight.size(), 2u);
  EXPECT_THAT(in_flight["w0"].when.intervals(), ElementsAre(At(10, 30), At(200, 210)));
  EXPECT_THAT(in_flight["w1"].when.intervals(), ElementsAre(At(100, 110), At(200, 210)));
  EXPECT_EQ(in_flight["w0"].uncertainty.ns, kMs) << "of the trace's clock";
}

// Nobody knows which of the engines had the request.
TEST_F(InFlightTest, WhatMayBeAnotherEnginesIsShared) {
  Send("http://a", 10, 20);
  EXPECT_FALSE(InFlightOf(recording_)["w0"].shared);
  recording_.workers[1].facts.data_parallel = 2;
  EXPECT_FALSE(InFlightOf(recording_)["w0"].shared);
  EXPECT_TRUE(InFlightOf(recording_)["w1"].shared) << "of its own engines";
  recording_.workers[1].facts.data_parallel = 1;
  Send("http://router", 200, 210);
  EXPECT_TRUE(InFlightOf(recording_)["w0"].shared);
  EXPECT_TRUE(InFlightOf(recording_)["w1"].shared);
  recording_.left_out.push_back(std::move(recording_.workers.back()));
  recording_.workers.pop_back();
  EXPECT_TRUE(InFlightOf(recording_)["w0"].shared) << "the router has one that is not recorded";
  recording_.left_out.clear();
  EXPECT_FALSE(InFlightOf(recording_)["w0"].shared) << "a router with one engine";
}

TEST_F(InFlightTest, AnEngineMayGoOnWithWhatBrokeOff) {
  Send("http://a", 10, 20).status = RequestStatus::kCancelled;
  Send("http://a", 5000, 5010).sent_ns = 0;  // the request never reached it
  EXPECT_THAT(InFlightOf(recording_)["w0"].when.intervals(), ElementsAre(At(10, 1020)));
}

TEST_F(InFlightTest, ByTheWorkersClockWhereItIsKnown) {
  Send("http://router", 10, 20);
  recording_.workers[0].facts.clock_offset_ns = 3000 * kMs;
  recording_.workers[0].facts.clock_error_ns = 400 * kMs;
  recording_.workers[1].facts.clock_offset_ns.reset();
  RunInFlight in_flight = InFlightOf(recording_);
  EXPECT_THAT(in_flight["w0"].when.intervals(), ElementsAre(At(3010, 3020)));
  EXPECT_EQ(in_flight["w0"].uncertainty.ns, 401 * kMs);
  EXPECT_FALSE(in_flight.contains("w1"));
  recording_.load.reset();
  EXPECT_TRUE(InFlightOf(recording_).empty()) << "the user drives";
}

TEST_F(InFlightTest, RunJsonKeepsIt) {
  Send("http://a", 10, 20);
  Send("http://a", 30, 40);
  recording_.workers[1].facts.clock_offset_ns.reset();
  RunInFlight read = InFlightOfRunJson(RunJsonText(recording_, {}, {}, "1", 0, ""));
  EXPECT_THAT(read["w0"].when.intervals(), ElementsAre(At(10, 20), At(30, 40)));
  EXPECT_EQ(read["w0"].uncertainty.ns, kMs);
  EXPECT_FALSE(read["w0"].shared);
  EXPECT_FALSE(read.contains("w1"));
  recording_.workers[0].facts.data_parallel = 2;
  EXPECT_TRUE(InFlightOfRunJson(RunJsonText(recording_, {}, {}, "1", 0, ""))["w0"].shared);
}

// The table that is read back from the text of the records is that of the recording.
TEST_F(InFlightTest, RequestsAreReadBackFromTheirRecords) {
  Send("http://a", 10, 20).id = "one";
  Send("http://router", 15, 30).status = RequestStatus::kPartial;
  const RequestTable written = RequestsOf(recording_);
  const RequestTable read = RequestsOf(RecordsAsJsonLines(*recording_.load),
                                       R"({"workers": [{"name": "w0", "url": "http://a"}]})");
  ASSERT_EQ(read.rows.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Request &a = written.rows[i], &b = read.rows[i];
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.worker, b.worker);
    EXPECT_EQ(a.whole, b.whole);
    EXPECT_EQ(a.sent, b.sent);
    EXPECT_EQ(a.first_token, b.first_token);
    EXPECT_EQ(a.ended, b.ended);
    EXPECT_EQ(a.output_tokens, b.output_tokens);
    ASSERT_EQ(a.end_chunk, b.end_chunk);
  }
  EXPECT_EQ(written.chunks[0].at, read.chunks[0].at);
}

}  // namespace
}  // namespace tacho
