#include <gtest/gtest.h>

#include <algorithm>

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

constexpr DurationNs kDrift{200'000};

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

// What became of the tokens of a join, by the truth.
struct Judged {
  uint64_t tokens = 0, tied = 0;
  uint64_t wrong = 0;       // tied to another step, or the truth is not among the fits
  uint64_t wrong_ties = 0;  // those tied to another step
};

// Traffic read back: the records and the steps of each engine, by the true order of the engines.
struct ReadTraffic {
  KnownTraffic traffic;
  RequestTable table;
  std::vector<JoinEngine> engines;

  explicit ReadTraffic(const KnownTrafficOptions& options)
      : traffic(*simulate::MakeKnownTraffic(options)), table(ReadTrafficRequests(traffic)) {
    const bool together = options.front == TrafficFront::kDataParallel;
    for (uint32_t i = 0; i < traffic.engines.size(); ++i) {
      const TraceAnalysis trace = AnalyzeTrace(ReadKnownTrace(traffic.engines[i], 0),
                                               KnownRunRules(), {.scope = {}, .digest = true});
      const uint32_t worker = together ? 0 : i;
      table.clocks.Relate({ClockOf::kTrace, i}, {ClockOf::kHost, worker}, *trace.header.to_host());
      engines.push_back(
          EngineOf(*trace.digest, table.clocks.Between({ClockOf::kTrace, i}, {ClockOf::kClient})));
      engines.back().worker = worker;
      engines.back().trace = i;
    }
  }
  [[nodiscard]] RequestJoin Join() const { return JoinRequests(table, engines); }

  // `join`: of these records, or of the first ones.
  [[nodiscard]] Judged Judge(const RequestJoin& join) const {
    Judged judged{join.tokens, join.tied, 0, 0};
    for (size_t i = 0; i < join.requests.size(); ++i) {
      const KnownRequest& known = traffic.requests[i];
      const JoinedRequest& found = join.requests[i];
      for (size_t token = 0; token < found.tokens.size(); ++token) {
        const bool is_right =
            found.engine == JoinedRequest::kNoEngine
                ? !IsInside(known, token) || found.tokens[token].fit == Fit::kUnknown
                : found.engine == known.engine && IsAmong(known, token, found.tokens[token]);
        judged.wrong += is_right ? 0 : 1;
        judged.wrong_ties += !is_right && found.tokens[token].fit == Fit::kTied ? 1 : 0;
      }
    }
    return judged;
  }

 private:
  [[nodiscard]] bool IsInside(const KnownRequest& known, size_t token) const {
    return traffic.IsRecorded(known.engine, known.tokens[token].step);
  }
  [[nodiscard]] bool IsAmong(const KnownRequest& known, size_t token, const TokenSeat& seat) const {
    if (seat.fit == Fit::kUnknown) return true;
    if (!IsInside(known, token)) return seat.fit == Fit::kOutside || seat.or_outside;
    const int64_t step = known.tokens[token].step;
    return seat.fit != Fit::kOutside && seat.first <= step && step <= seat.last;
  }
};

// Moves the times of the records in [from, end) by `shift`.
void Shift(RequestTable& table, DurationNs shift, size_t from, size_t end) {
  for (size_t i = from; i < end; ++i) {
    Request& request = table.rows[i];
    for (std::optional<TimeNs>* at : {&request.due, &request.handed, &request.sent,
                                      &request.first_token, &request.last_token, &request.ended}) {
      if (*at) **at = **at + shift;
    }
    for (size_t chunk = request.first_chunk; chunk < request.end_chunk; ++chunk)
      table.chunks[chunk].at = table.chunks[chunk].at + shift;
  }
}

// Gives each request a clock of its own, as if the client's drifted, and adds that to the error.
void Drift(ReadTraffic& read, uint64_t seed) {
  Random random(seed, 8);
  for (size_t i = 0; i < read.table.rows.size(); ++i)
    Shift(read.table, {random.Between(-kDrift.ns, kDrift.ns)}, i, i + 1);
  for (JoinEngine& engine : read.engines) *engine.clock_error += kDrift;
}

TEST(KnownJoin, TiesAreTrueAndTheTruthIsAmongTheFits) {
  Judged all, without_failures;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const KnownTrafficOptions options = JoinTraffic(seed);
    ReadTraffic read(options);
    if (seed % 4 == 0) Drift(read, seed);
    const RequestJoin join = read.Join();
    EXPECT_EQ(join.why, JoinWhy::kJoined) << seed;
    const Judged judged = read.Judge(join);
    EXPECT_EQ(judged.wrong, 0u) << seed;
    for (Judged* sum : {&all, &without_failures}) {
      if (sum == &without_failures && options.failed > 0) continue;
      sum->tokens += judged.tokens;
      sum->tied += judged.tied;
    }
  }
  EXPECT_GT(all.tied * 100, all.tokens * 97);
  EXPECT_GT(without_failures.tied * 100, without_failures.tokens * 99);
}

// A cache that is too small for what runs: vLLM takes the place of the last request, and reads it
// again later.
TEST(KnownJoin, OfPreemptedRequestsNoTieIsWrong) {
  Judged all;
  size_t preempted = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    KnownTrafficOptions options = JoinTraffic(seed);
    options.run.engine = SimulatedEngine::kVllm;
    options.run.mix.output_tokens = 48;
    options.failed = 0;
    options.limits.preempts = true;
    options.limits.cache_tokens = 1'500;
    const ReadTraffic read(options);
    const RequestJoin join = read.Join();
    const Judged judged = read.Judge(join);
    EXPECT_EQ(judged.wrong, 0u) << seed;
    all.tokens += judged.tokens;
    all.tied += judged.tied;
    preempted += std::ranges::any_of(read.traffic.requests, [](const KnownRequest& request) {
      return request.preempted_ns > 0;
    });
  }
  EXPECT_GT(preempted, 15u);
  EXPECT_GT(all.tied * 100, all.tokens * 75);
}

// A clock that is wrong by more than the recording says. On engines that share requests, one whose
// recording has ended may then seem to have made the answers that no longer fit the other engines.
TEST(KnownJoin, WrongClocksTieNothingWrong) {
  size_t wrong_runs = 0, joined = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    KnownTrafficOptions options = JoinTraffic(seed);
    if (seed % 4 == 0) options.run.mix.output_tokens = 1;
    ReadTraffic read(options);
    Random random(seed, 9);
    const int64_t off = random.Between(1'000'000, 20'000'000);
    const size_t from = seed % 2 == 0 ? 0 : read.table.rows.size() / 2;  // a step of the clock
    Shift(read.table, {random.Below(2) == 0 ? off : -off}, from, read.table.rows.size());
    const RequestJoin join = read.Join();
    const Judged judged = read.Judge(join);
    EXPECT_EQ(judged.wrong_ties, 0u) << seed << " off " << off;
    wrong_runs += judged.wrong > 0 ? 1 : 0;
    joined += join.tied > 0 ? 1 : 0;
  }
  EXPECT_LE(wrong_runs, 2u);
  EXPECT_LE(joined, 10u);
}

// Half of the records are lost, or are those of others.
TEST(KnownJoin, RecordsThatLackRequestsTieNothingWrong) {
  size_t others = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const KnownTrafficOptions options = JoinTraffic(seed);
    ReadTraffic read(options);
    Random random(seed, 10);
    const double kept = random.Uniform();
    for (Request& request : read.table.rows) {
      if (random.Uniform() < kept) continue;
      request = {};
    }
    const RequestJoin join = read.Join();
    others += join.why == JoinWhy::kOthers ? 1 : 0;
    EXPECT_EQ(read.Judge(join).wrong, 0u) << seed;
  }
  EXPECT_GT(others, 3u);
}

TEST(KnownJoin, RecordsOfAnotherRunTieNothing) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    KnownTrafficOptions options = JoinTraffic(seed), other = options;
    other.load_seed = seed + 1000;
    ReadTraffic read(options);
    const ReadTraffic wrong(other);
    read.table.rows = wrong.table.rows;
    read.table.chunks = wrong.table.chunks;
    EXPECT_EQ(read.Join().tied, 0u) << seed;
  }
}

}  // namespace
}  // namespace tacho
