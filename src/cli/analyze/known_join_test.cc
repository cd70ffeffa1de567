#include <gtest/gtest.h>

#include "analysis/requests/join.h"
#include "cli/analyze/known_run_for_test.h"
#include "cli/analyze/known_traffic_for_test.h"

namespace tacho {
namespace {

using simulate::KnownRequest;
using simulate::KnownTraffic;
using simulate::KnownTrafficOptions;
using simulate::SimulatedEngine;
using simulate::TrafficFront;

// Below saturation, of all kinds.
KnownTrafficOptions JoinTraffic(uint64_t seed) {
  Random random(seed, 6);
  KnownTrafficOptions o;
  o.run.engine = seed % 3 == 0 ? SimulatedEngine::kSglang : SimulatedEngine::kVllm;
  o.run.layers = 1;
  o.run.seed = o.load_seed = seed;
  o.requests = random.Between(5, 80);
  o.gap_ns = random.Between(3'000'000, 20'000'000);
  o.engines = random.Between(1, 3);
  o.front = static_cast<TrafficFront>(random.Below(3));
  o.limits.max_num_seqs = random.Between(8, 64);
  o.limits.max_num_batched_tokens = random.Between(256, 4096);
  o.cached = random.Below(2) == 0 ? 0 : random.Uniform() * 0.5;
  o.failed = random.Below(2) == 0 ? 0 : random.Uniform() * 0.2;
  o.merged = random.Uniform() * 0.1;
  o.clock_error_ns = random.Between(0, 500'000);
  if (random.Below(3) == 0) o.recorded_from = random.Uniform() * 0.4;
  if (random.Below(3) == 0) o.recorded_to = 1 - random.Uniform() * 0.4;
  return o;
}

struct Judged {
  uint64_t tokens = 0, tied = 0, wrong = 0, missed = 0;
};

RequestJoin JoinOf(const KnownTraffic& traffic, RequestTable& table) {
  std::vector<JoinEngine> engines;
  for (uint32_t i = 0; i < traffic.engines.size(); ++i) {
    const TraceAnalysis trace = AnalyzeTrace(ReadKnownTrace(traffic.engines[i], 0), KnownRunRules(),
                                             {.scope = {}, .digest = true});
    const bool together = traffic.options.front == TrafficFront::kDataParallel;
    table.clocks.Relate({ClockOf::kTrace, i}, {ClockOf::kHost, together ? 0 : i},
                        *trace.header.to_host());
    engines.push_back(
        EngineOf(*trace.digest, table.clocks.Between({ClockOf::kTrace, i}, {ClockOf::kClient})));
    engines.back().worker = together ? 0 : i;
    engines.back().trace = i;
  }
  return JoinRequests(table, std::move(engines));
}

void Judge(const KnownTraffic& traffic, const RequestJoin& join, Judged& judged) {
  for (size_t i = 0; i < traffic.requests.size(); ++i) {
    const KnownRequest& known = traffic.requests[i];
    const JoinedRequest& found = join.requests[i];
    if (found.engine == JoinedRequest::kNoEngine) continue;
    ASSERT_EQ(found.engine, known.engine);
    for (size_t token = 0; token < found.tokens.size(); ++token) {
      const TokenSeat& seat = found.tokens[token];
      const int64_t step = known.tokens[token].step;
      const bool inside = traffic.IsRecorded(known.engine, step);
      const bool fits = inside && seat.first <= step && step <= seat.last;
      switch (seat.fit) {
        case Fit::kTied:
          judged.wrong += fits ? 0 : 1;
          break;
        case Fit::kOneOf:
          judged.missed += fits || (!inside && seat.or_outside) ? 0 : 1;
          break;
        case Fit::kOutside:
          judged.missed += inside ? 1 : 0;
          break;
        case Fit::kUnknown:
          break;
      }
    }
  }
  judged.tokens += join.tokens;
  judged.tied += join.tied;
}

TEST(KnownJoin, TiesAreTrueAndTheTruthIsAmongTheFits) {
  Judged all;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const KnownTraffic traffic = *simulate::MakeKnownTraffic(JoinTraffic(seed));
    RequestTable table = ReadTrafficRequests(traffic);
    const RequestJoin join = JoinOf(traffic, table);
    Judged judged;
    Judge(traffic, join, judged);
    EXPECT_EQ(judged.wrong + judged.missed, 0u) << seed;
    all.tokens += judged.tokens;
    all.tied += judged.tied;
    if (getenv("DETAIL") && seed == strtoul(getenv("DETAIL"), nullptr, 10)) {
      for (size_t e = 0; e < join.engines.size(); ++e)
        for (size_t i = 0; i < join.engines[e].steps.size(); ++i) {
          const auto& st = join.engines[e].steps[i];
          printf("E%zu step %zu start %.3f len %.3f C%ld(%ld) G%ld(%ld)\n", e, i,
                 (double)(st.when.start.ns - join.engines[0].steps[0].when.start.ns) / 1e6,
                 (double)st.when.length().ns / 1e6, st.label.context_requests,
                 st.label.context_tokens, st.label.generation_requests, st.label.generation_tokens);
        }
      for (size_t i = 0; i < join.requests.size(); ++i) {
        const auto& k = traffic.requests[i];
        printf("R%zu engine %d (%ld) failed %d prompt %ld cached %ld sent %.3f err %ld reads", i,
               (int)join.requests[i].engine, k.engine, k.failed, k.prompt_tokens, k.cached_tokens,
               (double)(k.sent_ns - join.engines[0].steps[0].when.start.ns) / 1e6,
               traffic.options.clock_error_ns);
        for (auto& r : k.reads) printf(" %ld", r.step);
        printf("\n");
        for (size_t t = 0; t < join.requests[i].tokens.size(); ++t) {
          const auto& s = join.requests[i].tokens[t];
          if (s.fit != Fit::kTied)
            printf("   token %zu fit %d %u-%u out %d truth %ld seen %.3f\n", t, (int)s.fit, s.first,
                   s.last, s.or_outside, k.tokens[t].step,
                   (double)(k.tokens[t].seen_ns - join.engines[0].steps[0].when.start.ns) / 1e6);
        }
      }
    }
    if (getenv("SHOW"))
      printf(
          "seed %lu front %d engines %ld eng %d cut %.2f-%.2f failed %.2f why %d tied %lu of %lu "
          "one_of %lu wrong %lu missed %lu\n",
          seed, (int)traffic.options.front, traffic.options.engines,
          (int)traffic.options.run.engine, traffic.options.recorded_from,
          traffic.options.recorded_to, traffic.options.failed, (int)join.why, join.tied,
          join.tokens, join.one_of, judged.wrong, judged.missed);
  }
  EXPECT_GT(static_cast<double>(all.tied), 0.95 * static_cast<double>(all.tokens));
  printf("%lu of %lu\n", all.tied, all.tokens);
}

}  // namespace
}  // namespace tacho
