#include "analysis/ranks/lead_ups.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/analyze.h"
#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

std::map<LeadKind, int64_t> LeadOf(const LeadUps& lead_ups, size_t kernel) {
  std::map<LeadKind, int64_t> times;
  for (size_t i = lead_ups.FirstPart(kernel); i < lead_ups.EndOfParts(kernel); ++i)
    times[lead_ups.PartAt(i).kind] += lead_ups.PartAt(i).time.ns;
  return times;
}

TraceAnalysis Led(const Trace& trace) {
  return AnalyzeTrace(trace, BuiltInRules(), {.scope = {}, .digest = true});
}

LeadKind CategoryKind(const TraceDigest& digest, std::string_view name) {
  const auto at = std::ranges::find(digest.categories, name);
  return static_cast<LeadKind>(kLeadFirstCategory + (at - digest.categories.begin()));
}

TEST(LeadUps, ComputeCopiesAndIdleTimeBeforeEachKernel) {
  TraceBuilder b;
  b.Kernel("ncclDevKernel_AllReduce", {.start = 1'000, .duration = 100});
  b.Kernel("gemm", {.start = 1'150, .duration = 200});
  b.Memcpy("Memcpy HtoD", {.stream = "8", .start = 1'300, .duration = 100});  // half beside gemm
  b.Kernel("ncclDevKernel_AllReduce", {.start = 1'500, .duration = 300});
  b.Kernel("gemm", {.start = 1'600, .duration = 100, .correlation = 1});  // beside the collective
  b.Kernel("ncclDevKernel_AllReduce", {.stream = "9", .start = 1'700, .duration = 150});
  const TraceAnalysis analysis = Led(std::move(b).Finish());
  const LeadUps& lead_ups = analysis.digest->lead_ups.at(0);
  const auto idle = static_cast<LeadKind>(IdleCause::kUnknown);
  ASSERT_EQ(lead_ups.rows.size(), 3u);
  EXPECT_EQ(LeadOf(lead_ups, 0), (std::map<LeadKind, int64_t>{{kLeadCollective, 100}}));
  EXPECT_EQ(LeadOf(lead_ups, 1),
            (std::map<LeadKind, int64_t>{{kLeadCollective, 300},
                                         {CategoryKind(*analysis.digest, "gemm.dense"), 200},
                                         {kLeadCopies, 50},
                                         {idle, 150}}));
  // It began beside the one before, and ran 50 ns longer.
  EXPECT_EQ(LeadOf(lead_ups, 2), (std::map<LeadKind, int64_t>{{kLeadCollective, 50}}));
}

TEST(LeadUps, ALongTimeIsKept) {
  TraceBuilder b;
  b.Kernel("ncclDevKernel_AllReduce", {.start = 0, .duration = 10'000'000'000});
  b.Kernel("gemm", {.start = 11'000'000'000, .duration = 20'000'000'000});
  b.Kernel("ncclDevKernel_AllReduce", {.start = 31'000'000'000, .duration = 10});
  const TraceAnalysis analysis = Led(std::move(b).Finish());
  const LeadUps& lead_ups = analysis.digest->lead_ups.at(0);
  EXPECT_EQ(LeadOf(lead_ups, 0).at(kLeadCollective), 10'000'000'000);
  EXPECT_EQ(LeadOf(lead_ups, 1).at(CategoryKind(*analysis.digest, "gemm.dense")), 20'000'000'000);
  EXPECT_EQ(LeadOf(lead_ups, 1).at(static_cast<LeadKind>(IdleCause::kUnknown)), 1'000'000'000);
}

// The lead-ups and what the kernels add are all time until the last communication kernel ends.
TEST(LeadUps, AddUpToTheTime) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int64_t most) {
      return static_cast<int64_t>(random() % static_cast<uint32_t>(most));
    };
    TraceBuilder b;
    int64_t first = 1'000'000, end = 0;
    for (int i = 0; i < 300; ++i) {
      const int64_t start = draw(100'000), duration = 1 + draw(900);
      const std::string stream = std::to_string(draw(3));
      first = std::min(first, start);
      const TraceBuilder::OnGpu at{.stream = stream, .start = start, .duration = duration};
      switch (draw(4)) {
        case 0:
          b.Memcpy("Memcpy", at);
          break;
        case 1:
          b.Kernel("ncclDevKernel_AllReduce", at);
          end = std::max(end, start + duration);
          break;
        default:
          b.Kernel(draw(2) == 0 ? "gemm" : "rms_norm", at);
      }
    }
    const TraceAnalysis analysis = Led(std::move(b).Finish());
    int64_t sum = 0;
    const LeadUps& lead_ups = analysis.digest->lead_ups.at(0);
    for (size_t kernel = 0; kernel < lead_ups.rows.size(); ++kernel) {
      for (const auto& [kind, ns] : LeadOf(lead_ups, kernel)) sum += ns;
    }
    EXPECT_EQ(sum, end - first) << seed;
  }
}

}  // namespace
}  // namespace tacho
