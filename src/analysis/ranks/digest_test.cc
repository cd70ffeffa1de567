#include "analysis/ranks/digest.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/analyze.h"
#include "analysis/ranks/digest_bytes.h"
#include "analysis/ranks/matched_collectives.h"
#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

// `steps` decode steps of random lengths, each with a kernel and a collective, launched in time or
// late.
Trace DigestedTrace(uint32_t seed, int64_t steps, int64_t rank = 0) {
  std::mt19937 random(seed);
  TraceBuilder b;
  b.header().rank = rank;
  b.header().base_time_ns = 1'790'000'000'000'000'000;
  int64_t at = 0;
  for (int64_t i = 0; i < steps; ++i) {
    b.Host("user_annotation", "execute_context_0(0)_generation_2(2)",
           {.start = at, .duration = 5'000});
    const int64_t late = static_cast<int64_t>(random() % 3'000);
    for (int64_t k = 0; k < 2; ++k) {
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.start = at + late + 900 * k, .duration = 50, .correlation = 2 * i + k});
    }
    b.Kernel("gemm", {.start = at + late + 200, .duration = 500, .correlation = 2 * i});
    b.Kernel("ncclDevKernel_AllReduce", {.stream = "9",
                                         .start = at + late + 1'200,
                                         .duration = 9'000 - late,
                                         .correlation = 2 * i + 1,
                                         .args = {{"Collective name", "\"allreduce\""},
                                                  {"Process Group Name", "\"tp\""},
                                                  {"Process Group Ranks", "\"[0, 1]\""},
                                                  {"Seq", i % 2 == 0 ? "7" : "8"}}});
    at += 11'000;
  }
  return std::move(b).Finish();
}

TraceAnalysis Digested(const Trace& trace, const Scope& scope = {}) {
  return AnalyzeTrace(trace, BuiltInRules(), {.scope = scope, .digest = true});
}

TEST(TraceDigest, IsAbsentUnlessAskedFor) {
  EXPECT_EQ(AnalyzeTrace(DigestedTrace(1, 3), BuiltInRules()).digest, nullptr);
}

TEST(TraceDigest, StepsHaveTheirTimesAndHowLateTheHostWas) {
  const TraceAnalysis analysis = Digested(DigestedTrace(3, 40));
  const TraceDigest& digest = *analysis.digest;
  ASSERT_EQ(digest.steps.size(), analysis.steps.steps.size());
  DurationNs late, expected;
  for (size_t i = 0; i < digest.steps.size(); ++i) {
    const Step& step = analysis.steps.steps[i];
    EXPECT_EQ(digest.steps[i].when, step.when);
    EXPECT_EQ(digest.steps[i].label.generation_requests, 2);
    EXPECT_EQ(digest.steps[i].device.length(), step.device_span.value_or(DurationNs{}));
    EXPECT_EQ(digest.steps[i].device_busy, step.device_busy.value_or(DurationNs{}));
    late += digest.steps[i].host_late;
  }
  for (const IdleCauseRow& row : analysis.idle.causes) {
    if (row.cause == IdleCause::kHostLate || row.cause == IdleCause::kInLaunchCall)
      expected += row.total;
  }
  EXPECT_EQ(late, expected);
  EXPECT_GT(late.ns, 0);
}

TEST(TraceDigest, CollectivesKeepGroupNumberAndStream) {
  const TraceAnalysis analysis = Digested(DigestedTrace(3, 40));
  ASSERT_EQ(analysis.digest->communication->size(), 1u);
  const CommSeries& series = analysis.digest->communication->front();
  EXPECT_EQ(series.name, "allreduce");
  EXPECT_EQ(series.group, "tp");
  EXPECT_TRUE(series.names_group);
  ASSERT_EQ(series.kernels.size(), 40u);
  EXPECT_EQ(series.kernels[1].sequence, 8);
  EXPECT_EQ(series.streams.at(series.kernels[1].stream), "9");
}

TEST(TraceDigest, TakesNoMoreMemoryThanItSays) {
  constexpr size_t kSteps = 5'000;
  const TraceAnalysis analysis = Digested(DigestedTrace(1, kSteps));
  EXPECT_LE(analysis.digest->MemoryBytes(),
            kSteps * (TraceDigest::kBytesOfKernel + TraceDigest::kBytesOfLeadUp +
                      TraceDigest::kBytesOfStep) +
                30'000);
}

// What view matches of the traces that it keeps, the analyses match of digests.
TEST(TraceDigest, MatchingNeedsNoTrace) {
  RunAnalysis run;
  std::vector<CommRank> of_traces;
  for (int64_t rank = 0; rank < 2; ++rank) {
    const Trace trace = DigestedTrace(static_cast<uint32_t>(rank), 2, rank);
    CommRank& of_trace = of_traces.emplace_back();
    of_trace.identity.rank = rank;
    of_trace.series = CollectCommunication(trace, BuiltInRules());
    run.traces.push_back(Digested(trace));
    run.traces.back().path = "rank" + std::to_string(rank);
  }
  of_traces[0].offset = of_traces[1].offset = -(run.traces[0].span.start - TimeNs{});
  AnalyzeRun(run);
  const MatchedCollectives expected = MatchCollectives(of_traces);
  const MatchedCollectives matched = MatchCollectives(CommRanksOf(run));
  EXPECT_EQ(matched.kernels, 4u);
  EXPECT_EQ(matched.unmatched, expected.unmatched);
  EXPECT_EQ(matched.residuals, expected.residuals);
  EXPECT_EQ(matched.collectives.size(), expected.collectives.size());
}

TEST(DigestBytes, AreReadBack) {
  for (uint32_t seed = 0; seed < 5; ++seed) {
    const TraceAnalysis analysis = Digested(DigestedTrace(seed, 100));
    const std::string bytes = BytesOfDigest(*analysis.digest);
    const auto read = ReadDigest(bytes);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(BytesOfDigest(*read), bytes);
    EXPECT_EQ(read->MemoryBytes(), analysis.digest->MemoryBytes());
    const CommSeries &got = read->communication->front(),
                     &had = analysis.digest->communication->front();
    ASSERT_EQ(got.kernels.size(), had.kernels.size());
    for (size_t i = 0; i < had.kernels.size(); ++i) {
      EXPECT_EQ(got.kernels[i].when, had.kernels[i].when);
      EXPECT_EQ(got.kernels[i].row, had.kernels[i].row);
      EXPECT_EQ(got.kernels[i].sequence, had.kernels[i].sequence);
    }
    EXPECT_EQ(read->steps.back().when, analysis.digest->steps.back().when);
  }
}

TEST(DigestBytes, CutOnesAreRefused) {
  const std::string bytes = BytesOfDigest(*Digested(DigestedTrace(1, 10)).digest);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ReadDigest(bytes.substr(0, size))) << size;
  EXPECT_FALSE(ReadDigest(bytes + '\0'));
}

TEST(DigestBytes, DamagedOnesAreRefusedOrRead) {
  const std::string bytes = BytesOfDigest(*Digested(DigestedTrace(1, 10)).digest);
  std::mt19937 random(1);
  size_t read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto digest = ReadDigest(damaged);
    if (!digest) continue;
    ++read;
    // A number may have been written with too many bytes.
    const std::string again = BytesOfDigest(*digest);
    EXPECT_EQ(BytesOfDigest(*ReadDigest(again)), again);
  }
  EXPECT_GT(read, 1000u);
}

}  // namespace
}  // namespace tacho
