#include <gtest/gtest.h>

#include "analysis/requests/requests.h"
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

// Traffic with its traces read back, and tied as the truth says.
struct TiedTraffic {
  KnownTraffic traffic;
  RequestTable table;
  std::vector<TraceAnalysis> traces;
  std::vector<RequestEngine> engines;
  std::vector<RequestTie> ties;

  explicit TiedTraffic(const KnownTrafficOptions& options)
      : traffic(*simulate::MakeKnownTraffic(options)), table(ReadTrafficRequests(traffic)) {
    for (const simulate::KnownRun& run : traffic.engines) {
      traces.push_back(
          AnalyzeTrace(ReadKnownTrace(run, 0), KnownRunRules(), {.scope = {}, .digest = true}));
    }
    for (uint32_t i = 0; i < traces.size(); ++i) {
      table.clocks.Relate({ClockOf::kTrace, i}, {ClockOf::kHost, i}, *traces[i].header.to_host());
      engines.push_back({i, i, simulate::TrafficWorker(traffic, i),
                         *table.clocks.Between({ClockOf::kClient}, {ClockOf::kTrace, i}),
                         &traces[i].digest->steps, &traces[i].digest->cells});
    }
    for (const KnownRequest& request : traffic.requests) {
      RequestTie& tie = ties.emplace_back();
      if (request.tokens.empty()) continue;
      tie.engine = static_cast<uint32_t>(request.engine);
      tie.fits.emplace_back();
      for (const simulate::KnownToken& token : request.tokens)
        tie.fits[0].push_back(static_cast<uint32_t>(token.step));
    }
  }
  [[nodiscard]] RequestAnalysis Split() const { return SplitRequests(table, engines, ties); }
};

void ExpectParts(const RequestParts& parts, DurationNs sum) {
  EXPECT_EQ(parts.Sum(), sum);
  for (const DurationNs part : parts.ns) EXPECT_GE(part.ns, 0);
}

TEST(KnownTraffic, PartsAddUpAndFollowTheTruth) {
  double all_planned = 0, all_found = 0;
  size_t exact = 0, all = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const TiedTraffic tied(RandomTraffic(seed));
    const RequestAnalysis analysis = tied.Split();
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
      const auto detail = DetailOf(tied.table, tied.engines, tied.ties, i);
      ASSERT_TRUE(detail);
      for (const RequestDetail::Gap& gap : detail->gaps) ExpectParts(gap.parts, gap.length);
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
    if (planned > 5e6) {
      EXPECT_NEAR(found / planned, 1, 0.1) << seed;
    }
    all_planned += planned;
    all_found += found;
  }
  EXPECT_NEAR(all_found / all_planned, 1, 0.03);
  EXPECT_GT(exact, all * 9 / 10);
}

}  // namespace
}  // namespace tacho
