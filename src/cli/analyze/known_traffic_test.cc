#include <gtest/gtest.h>

#include "analysis/requests/request_analysis.h"
#include "cli/analyze/known_run_for_test.h"
#include "cli/analyze/known_traffic_for_test.h"

namespace tacho {
namespace {

using simulate::KnownRequest;
using simulate::KnownTraffic;
using simulate::KnownTrafficOptions;
using simulate::SimulatedEngine;

KnownTrafficOptions RandomTraffic(uint64_t seed) {
  Random random(seed, 5);
  KnownTrafficOptions o;
  o.run.engine = seed % 3 == 0 ? SimulatedEngine::kSglang : SimulatedEngine::kVllm;
  o.run.layers = random.Between(1, 2);
  o.run.seed = o.load_seed = seed;
  o.requests = random.Between(5, 40);
  o.gap_ns = random.Between(500'000, 6'000'000);
  o.engines = random.Between(1, 3);
  o.limits.max_num_seqs = random.Between(4, 32);
  o.limits.max_num_batched_tokens = random.Between(256, 4096);
  o.cached = random.Uniform() * 0.5;
  o.failed = random.Uniform() * 0.2;
  return o;
}

// Traffic with its traces read back, and joined as the truth says.
struct TiedTraffic {
  KnownTraffic traffic;
  RequestTable table;
  std::vector<TraceAnalysis> traces;
  RequestJoin join;
  RequestInput input;

  explicit TiedTraffic(const KnownTrafficOptions& options)
      : traffic(*simulate::MakeKnownTraffic(options)), table(ReadTrafficRequests(traffic)) {
    for (const simulate::KnownRun& run : traffic.engines) {
      traces.push_back(
          AnalyzeTrace(ReadKnownTrace(run, 0), KnownRunRules(), {.scope = {}, .digest = true}));
    }
    for (uint32_t i = 0; i < traces.size(); ++i) AddEngine(i);
    for (const KnownRequest& request : traffic.requests) AddRequest(request);
    input.table = &table;
    input.join = &join;
    for (const TraceAnalysis& trace : traces) input.digests.push_back(trace.digest.get());
  }
  TiedTraffic(const TiedTraffic&) = delete;
  TiedTraffic& operator=(const TiedTraffic&) = delete;

  void AddEngine(uint32_t i) {
    table.clocks.Relate({ClockOf::kTrace, i}, {ClockOf::kHost, i}, *traces[i].header.to_host());
    const ClockShift to_client = *table.clocks.Between({ClockOf::kTrace, i}, {ClockOf::kClient});
    JoinEngine engine = EngineOf(*traces[i].digest, to_client);
    engine.worker = engine.trace = i;
    engine.ranks = {i};
    join.engines.push_back(std::move(engine));
    join.engine_why.push_back(JoinWhy::kJoined);
    join.why = JoinWhy::kJoined;
    input.engine_names.push_back(simulate::TrafficWorker(traffic, i));
  }
  void AddRequest(const KnownRequest& request) {
    JoinedRequest& joined = join.requests.emplace_back();
    for (const simulate::KnownToken& token : request.tokens) {
      joined.engine = static_cast<uint32_t>(request.engine);
      const auto step = static_cast<uint32_t>(token.step);
      const bool is_recorded = traffic.IsRecorded(request.engine, token.step);
      joined.tokens.push_back(is_recorded ? TokenSeat{Fit::kTied, false, step, step}
                                          : TokenSeat{Fit::kOutside});
    }
  }
};

void ExpectParts(const RequestParts& parts, DurationNs sum) {
  EXPECT_EQ(parts.Sum(), sum);
  for (const DurationNs part : parts.ns) EXPECT_GE(part.ns, 0);
}

// The clock that the requests narrow down is right within the error that is left.
TEST(KnownTraffic, TheClocksErrorIsNarrowedAndHolds) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    KnownTrafficOptions options = RandomTraffic(seed);
    options.clock_error_ns = 3'000'000;
    options.engines = 1;
    const TiedTraffic tied(options);
    const RequestAnalysis analysis = SplitRequests(tied.input);
    ASSERT_TRUE(analysis.clock_error);
    EXPECT_LT(analysis.clock_error->ns, 1'000'000);
    for (size_t i = 0; i < analysis.rows.size(); ++i) {
      const auto detail = DetailOf(tied.input, i);
      if (!detail) continue;
      const int64_t sent_by_host =
          tied.traffic.requests[i].sent_ns + tied.traffic.true_offset_ns[0];
      const int64_t sent = tied.traces[0].header.to_host()->Convert(detail->sent).ns;
      EXPECT_LE(std::abs(sent - sent_by_host), analysis.clock_error->ns);
    }
  }
}

TEST(KnownTraffic, HalfARecordingSplitsWhatItSaw) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    KnownTrafficOptions options = RandomTraffic(seed);
    options.recorded_from = 0.3;
    options.recorded_to = 0.8;
    const TiedTraffic tied(options);
    const RequestAnalysis analysis = SplitRequests(tied.input);
    for (const RequestRow& row : analysis.rows) {
      ExpectParts(row.parts, row.e2e);
      if (row.ttft) ExpectParts(row.ttft_parts, *row.ttft);
      const KnownRequest& known = tied.traffic.requests[row.number];
      const auto recorded = std::ranges::count_if(known.tokens, [&](const auto& token) {
        return tied.traffic.IsRecorded(known.engine, token.step);
      });
      if (known.tokens.empty()) continue;
      EXPECT_EQ(row.lacks, recorded == 0 ? RequestLacks::kRecorded : RequestLacks::kNothing);
      if (static_cast<size_t>(recorded) < known.tokens.size()) {
        EXPECT_FALSE(row.sure);
      }
      EXPECT_LE(row.outside, row.parts[RequestPart::kUnknown]);
      EXPECT_EQ(row.inside(), static_cast<size_t>(recorded) == known.tokens.size());
    }
  }
}

TEST(KnownTraffic, PartsAddUpAndFollowTheTruth) {
  double all_planned = 0, all_found = 0;
  size_t exact = 0, all = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const TiedTraffic tied(RandomTraffic(seed));
    const RequestAnalysis analysis = SplitRequests(tied.input);
    double planned = 0, found = 0;
    ASSERT_EQ(analysis.rows.size(), tied.traffic.requests.size());
    for (size_t i = 0; i < analysis.rows.size(); ++i) {
      const RequestRow& row = analysis.rows[i];
      const KnownRequest& known = tied.traffic.requests[i];
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", request " << i);
      EXPECT_EQ(row.id, known.id);
      EXPECT_EQ(row.tokens, known.tokens.size());
      const int64_t end = known.failed ? known.ended_ns : known.tokens.back().seen_ns;
      ExpectParts(row.parts, DurationNs{end - known.intended_ns});
      EXPECT_EQ(row.e2e, row.parts.Sum());
      if (row.ttft) ExpectParts(row.ttft_parts, *row.ttft);
      EXPECT_EQ(row.parts[RequestPart::kClient].ns, known.sent_ns - known.intended_ns);
      EXPECT_EQ(row.parts[RequestPart::kPreempted].ns, 0);
      EXPECT_EQ(row.lacks, known.tokens.empty() ? RequestLacks::kTokens : RequestLacks::kNothing);
      if (known.tokens.empty()) continue;
      const auto detail = DetailOf(tied.input, i);
      ASSERT_TRUE(detail);
      for (size_t c = 1; c < detail->chunks.size(); ++c)
        ExpectParts(detail->chunks[c].gap, detail->chunks[c].seen - detail->chunks[c - 1].seen);
      ++all;
      if (detail->reads_known) {
        ++exact;
        std::vector<uint32_t> reads;
        for (const simulate::KnownRead& read : known.reads)
          reads.push_back(static_cast<uint32_t>(read.step));
        EXPECT_EQ(detail->reads, reads);
      }
      if (row.parts[RequestPart::kUnknown].ns > 0 && known.failed) continue;
      planned += static_cast<double>(known.wait_prefill_ns);
      found += static_cast<double>(row.parts[RequestPart::kWaitPrefill].ns);
    }
    // The noise of single steps does not cancel in a short wait.
    if (planned > 20e6) {
      EXPECT_NEAR(found / planned, 1, 0.1) << seed;
    }
    all_planned += planned;
    all_found += found;
  }
  EXPECT_NEAR(all_found / all_planned, 1, 0.03);
  EXPECT_GT(exact, all * 9 / 10);
}

// The time between its tokens that a request spent without its part of the cache, while steps of
// others ran.
TEST(KnownTraffic, APreemptedRequestsWaitFollowsTheTruth) {
  double planned = 0, found = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    KnownTrafficOptions options = RandomTraffic(seed);
    options.run.engine = SimulatedEngine::kVllm;
    options.run.mix.output_tokens = 48;
    options.failed = options.cached = 0;
    options.limits.preempts = true;
    options.limits.cache_tokens = 1'500;
    const TiedTraffic tied(options);
    const RequestAnalysis analysis = SplitRequests(tied.input);
    for (size_t i = 0; i < analysis.rows.size(); ++i) {
      const RequestRow& row = analysis.rows[i];
      ExpectParts(row.parts, row.e2e);
      const double part = static_cast<double>(row.parts[RequestPart::kPreempted].ns);
      planned += static_cast<double>(tied.traffic.requests[i].preempted_ns);
      found += part;
      if (tied.traffic.requests[i].preempted_ns == 0) {
        EXPECT_EQ(part, 0) << seed << " " << row.id;
      }
    }
  }
  EXPECT_GT(planned, 1e8);
  EXPECT_NEAR(found / planned, 1, 0.1);
}

}  // namespace
}  // namespace tacho
