#include "analysis/ranks/merged_ranks.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/analyze.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

// A rank with `launches` kernels, its process, and the pid and device of its work.
struct Rank {
  std::string_view host, work, device;
  int64_t first_correlation = 1;
  std::string_view prefix = {};
};

void Add(TraceBuilder& b, const Rank& rank, int64_t launches = 3) {
  for (int64_t i = 0; i < launches; ++i) {
    const int64_t at = 100 * i, correlation = rank.first_correlation + i;
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.pid = rank.host,
            .tid = rank.host,
            .start = at,
            .duration = 5,
            .correlation = correlation,
            .rank = rank.prefix});
    b.Kernel("gemm", {.device = rank.device,
                      .start = at + 10,
                      .duration = 60,
                      .correlation = correlation,
                      .pid = rank.work,
                      .rank = rank.prefix});
  }
}

RanksInside Of(const std::vector<Rank>& ranks) {
  TraceBuilder b;
  for (const Rank& rank : ranks) Add(b, rank);
  return FindRanksInside(std::move(b).Finish());
}

TEST(RanksInside, OfARanksOwnTraceIsOne) {
  EXPECT_EQ(Of({}), RanksInside::kOne);
  EXPECT_EQ(Of({{"10", "0", "0"}}), RanksInside::kOne);
}

TEST(RanksInside, TheSameCorrelationsAreOfTwoProcesses) {
  EXPECT_EQ(Of({{"10", "0", "0"}, {"11", "0", "0"}}), RanksInside::kMixed);
  EXPECT_EQ(Of({{"10", "0", "0"}, {"11", "1", "1"}}), RanksInside::kMixed);
  EXPECT_EQ(Of({{"10", "0", "0"}, {"100010", "100000", "0"}}), RanksInside::kMixed);
  // containers: both have the pid 10
  EXPECT_EQ(Of({{"10", "0", "0"}, {"10", "0", "0"}}), RanksInside::kMixed);
}

TEST(RanksInside, OneDeviceOfTwoProcessesIsTwo) {
  EXPECT_EQ(Of({{"10", "0", "0"}, {"11", "0", "0", 500}}), RanksInside::kMixed);
  EXPECT_EQ(Of({{"10", "0", "0"}, {"10", "100000", "0", 500}}), RanksInside::kMixed);
}

TEST(RanksInside, WhatPidsOrDevicesTellApartIsApart) {
  EXPECT_EQ(Of({{"10", "0", "0"}, {"11", "1", "1", 500}}), RanksInside::kApart);
  EXPECT_EQ(Of({{"10", "0", "0", 1, "[TP00] "}, {"11", "0", "0", 1, "[TP01] "}}),
            RanksInside::kOne);
}

TEST(RanksInside, OneEventTwiceIsDamage) {
  TraceBuilder b;
  Add(b, {"10", "0", "0"});
  Add(b, {"10", "0", "0"}, 1);
  EXPECT_EQ(FindRanksInside(std::move(b).Finish()), RanksInside::kOne);
}

TEST(RanksInside, MixedRanksHaveNoFigures) {
  TraceBuilder b;
  b.header().rank = 0;
  Add(b, {"10", "0", "0"});
  Add(b, {"11", "0", "0"});
  const auto classifier = Classifier::Create();
  ASSERT_TRUE(classifier);
  const Trace trace = std::move(b).Finish();
  const TraceAnalysis analysis = AnalyzeTrace(trace, *classifier);
  EXPECT_EQ(analysis.facts.role, TraceRole::kMerged);
  EXPECT_FALSE(analysis.facts.rank);
  EXPECT_TRUE(analysis.devices.empty());
  EXPECT_TRUE(analysis.kernels.rows.empty());
  EXPECT_EQ(analysis.launches.gpu_events, 0u);
  EXPECT_EQ(analysis.notes.CountOf(NoteId::kMixedRanks), 1u);
  EXPECT_EQ(analysis.counts.total, 12u);
}

}  // namespace
}  // namespace tacho
