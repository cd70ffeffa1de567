#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "session/proof/trace_evidence.h"
#include "session/recording.h"

namespace tacho {
namespace {

// Ten tokens a second, from 0 s to 10 s.
LoadRecords TenTokensASecond() {
  LoadRecords records;
  RequestRecord& request = records.requests.emplace_back();
  request.status = RequestStatus::kDone;
  for (int64_t at = 0; at < 100; ++at) {
    request.chunk_ns.push_back(at * 100'000'000);
    request.chunk_tokens.push_back(1);
  }
  request.ended_ns = 9'900'000'000;
  return records;
}

RecordedWorker WithFile(const std::string& path, int64_t clock_offset_ns) {
  RecordedWorker worker;
  worker.expectation.files = {path};
  worker.facts.clock_offset_ns = clock_offset_ns;
  return worker;
}

TraceEvidence EndingAt(const std::string& path, int64_t unix_ns) {
  TraceEvidence trace;
  trace.path = path;
  trace.last_unix_ns = unix_ns;
  return trace;
}

TEST(MeasureWindow, CountsTokensAndRequestsInside) {
  const LoadWindow window = MeasureWindow(TenTokensASecond(), 2'000'000'000, 4'000'000'000);
  EXPECT_EQ(window.output_tokens, 20u);
  EXPECT_EQ(window.requests_done, 0u);
  EXPECT_DOUBLE_EQ(window.TokensPerSecond().value(), 10);
  EXPECT_DOUBLE_EQ(window.StandardError().value(), 0);
  EXPECT_EQ(MeasureWindow(TenTokensASecond(), 0, 10'000'000'000).requests_done, 1u);
}

// TTFT counts if the first token comes in the window, TPOT if the whole answer lies in it.
TEST(MeasureWindow, TellsTheTimesOfUsersInside) {
  LoadRecords records;
  const auto add = [&](int64_t sent_ns, int64_t first_ns, int64_t last_ns, RequestStatus status) {
    RequestRecord& request = records.requests.emplace_back();
    request.status = status;
    request.sent_ns = sent_ns;
    request.first_token_ns = first_ns;
    request.last_choice_ns = last_ns;
    request.output_tokens = 11;
  };
  add(100, 150, 950, RequestStatus::kDone);             // ends before the window
  add(900, 1'100, 1'600, RequestStatus::kDone);         // TTFT 200, TPOT 50
  add(1'000, 1'100, 1'400, RequestStatus::kDone);       // TTFT 100, TPOT 30
  add(1'500, 1'800, 2'400, RequestStatus::kDone);       // TTFT 300; it ends after the window
  add(1'700, 1'900, 1'950, RequestStatus::kCancelled);  // TTFT 200
  add(1'700, 0, 0, RequestStatus::kFailed);
  const LoadWindow window = MeasureWindow(records, 1'000, 2'000);
  EXPECT_EQ(window.ttft.count, 4u);
  EXPECT_DOUBLE_EQ(window.ttft.At(50).value(), 200);
  EXPECT_EQ(window.tpot.count, 2u);
  EXPECT_DOUBLE_EQ(window.tpot.At(50).value(), 40);
  EXPECT_EQ(MeasureWindow(records, 3'000, 4'000).ttft.count, 0u);
  // Times that the client spoilt do not count.
  records.requests[1].first_unsure = true;
  EXPECT_EQ(MeasureWindow(records, 1'000, 2'000).ttft.count, 0u);
}

TEST(MeasureWindow, ScenariosAddUpToTheWindow) {
  LoadRecords records = TenTokensASecond();
  records.requests[0].scenario = "rag";
  EXPECT_TRUE(MeasureWindow(records, 0, 5'000'000'000).scenarios.empty());
  records.requests.push_back(TenTokensASecond().requests[0]);
  records.requests[1].scenario = "chat";
  records.requests[1].ended_ns = 4'000'000'000;
  const LoadWindow window = MeasureWindow(records, 0, 5'000'000'000);
  ASSERT_EQ(window.scenarios.size(), 2u);
  EXPECT_EQ(window.scenarios[0].scenario, "chat");
  EXPECT_EQ(window.scenarios[0].requests_done, 1u);
  EXPECT_EQ(window.scenarios[1].requests_done, 0u);
  EXPECT_EQ(window.scenarios[0].output_tokens, 50u);
  EXPECT_EQ(window.output_tokens, 100u);
  EXPECT_DOUBLE_EQ(window.scenarios[1].TokensPerSecond().value(), 10);
}

class EndProfiledWith : public testing::Test {
 protected:
  void SetUp() override {
    recording_.profiled = MeasureWindow(*recording_.load, 1'000'000'000, 9'000'000'000);
    recording_.workers = {WithFile("a", 0), WithFile("b", 500'000'000)};
  }

  WorkerExpectation& Worker(size_t i) { return recording_.workers[i].expectation; }
  int64_t EndAfter(const Proof& proof = {}) {
    recording_.EndProfiledWith(traces_, proof);
    return recording_.profiled.end_ns;
  }

  static constexpr int64_t kUnixNs = 1'000'000'000'000;
  const FolderForTest parent_;
  Recording recording_{.folder = *RunFolder::Create(parent_.path(), "r"),
                       .load = TenTokensASecond(),
                       .clocks = {.monotonic_ns = 0, .unix_ns = kUnixNs}};
  std::vector<TraceEvidence> traces_ = {EndingAt("a", kUnixNs + 5'000'000'000),
                                        EndingAt("b", kUnixNs + 4'500'000'000),
                                        EndingAt("not ours", kUnixNs + 2'000'000'000)};
};

TEST_F(EndProfiledWith, TheFirstSessionByItsClock) {
  Worker(0).steps_bound = Worker(1).steps_bound = 100;
  EXPECT_EQ(EndAfter(), 4'000'000'000);
  EXPECT_EQ(recording_.profiled.output_tokens, 30u);
}

// SGLang's profiler goes on recording while it stops.
TEST_F(EndProfiledWith, TheLastStepAndNotTheStopAfterIt) {
  Worker(0).own_bound = 100;
  traces_[0].last_step_unix_ns = kUnixNs + 3'000'000'000;
  EXPECT_EQ(EndAfter(), 3'000'000'000);
}

TEST(EvidenceOf, TheLastStepEndsOnTheHostOrOnADevice) {
  TraceAnalysis trace;
  trace.header.base_time_ns = 1'000;
  trace.span = {{0}, {900}};
  trace.devices.emplace_back().window = {{100}, {500}};
  EXPECT_EQ(EvidenceOf(trace).last_step_unix_ns, std::nullopt);
  trace.steps.steps.emplace_back().when = {{100}, {400}};
  EXPECT_EQ(EvidenceOf(trace).last_step_unix_ns, 1'500);
  trace.steps.steps.emplace_back().when = {{400}, {600}};
  EXPECT_EQ(EvidenceOf(trace).last_step_unix_ns, 1'600);
  EXPECT_EQ(EvidenceOf(trace).last_unix_ns, 1'900);
}

TEST_F(EndProfiledWith, TheEnginesOwnBoundAndNotAnIdleEngine) {
  EXPECT_EQ(EndAfter(), 9'000'000'000);
  Worker(0).own_bound = 100;
  EXPECT_EQ(EndAfter(), 5'000'000'000);
  EXPECT_EQ(recording_.profiled.output_tokens, 40u);
}

TEST_F(EndProfiledWith, SomebodyElsesStop) {
  Worker(1).url = "http://b";
  Proof proof;
  RankProof& rank = proof.ranks.emplace_back();
  rank.worker_url = "http://b";
  rank.remark = Finding{FindingId::kHoldsPart, "", "its file ends before the stop"};
  EXPECT_EQ(EndAfter(proof), 4'000'000'000);
}

// All requests prefill at once for 100 ms of each second, so that no token comes then.
TEST(CostOfProfiling, AWindowShorterThanAWaveOfRequestsCannotTell) {
  const FolderForTest parent;
  Recording recording{.folder = *RunFolder::Create(parent.path(), "r"), .load = LoadRecords()};
  RequestRecord& request = recording.load->requests.emplace_back();
  request.status = RequestStatus::kDone;
  for (int64_t at = 0; at < 10'000; at += 10) {
    if (at % 1000 < 100) continue;
    request.chunk_ns.push_back(at * 1'000'000);
    request.chunk_tokens.push_back(at < 8'000 ? 10 : 5);  // profiling begins at 8 s
  }
  const auto cost = [&](int64_t from_ms, int64_t to_ms) {
    recording.baseline = MeasureWindow(*recording.load, 0, 5'000'000'000);
    recording.profiled = MeasureWindow(*recording.load, from_ms * 1'000'000, to_ms * 1'000'000);
    return *recording.CostOfProfiling();
  };
  const auto wave = cost(6'030, 6'120);
  EXPECT_NEAR(wave.share, 0.75, 0.01);
  EXPECT_GE(wave.error, 1);
  EXPECT_LT(cost(6'150, 6'900).error, 0.25);
  const auto halved = cost(8'000, 10'000);
  EXPECT_NEAR(halved.share, 0.5, 0.02);
  EXPECT_LT(halved.error, 0.25);
}

TEST_F(EndProfiledWith, AnUnknownEndLeavesNoWindow) {
  Worker(0).own_bound = Worker(1).own_bound = 100;
  const LoadWindow whole = recording_.profiled;
  // The clock is off by more than the window.
  recording_.workers[1].facts.clock_offset_ns = 100'000'000'000;
  EXPECT_EQ(EndAfter(), 0);
  EXPECT_FALSE(recording_.CostOfProfiling());
  recording_.profiled = whole;
  Worker(1).files = {"lost"};
  EXPECT_EQ(EndAfter(), 0);
}

}  // namespace
}  // namespace tacho
