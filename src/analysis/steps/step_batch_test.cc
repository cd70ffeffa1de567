#include "analysis/steps/step_batch.h"

#include <gtest/gtest.h>

#include <set>

namespace tacho {
namespace {

StepLabel Decode(int64_t requests) {
  return {.phase = Phase::kDecode, .generation_requests = requests};
}
StepLabel Prefill(int64_t tokens) { return {.phase = Phase::kPrefill, .context_tokens = tokens}; }

TEST(StepBatch, DecodeStepsGoByTheSizesOfCapturedGraphs) {
  for (const auto& [requests, most] : {std::pair<int64_t, int64_t>{1, 1},
                                       {7, 7},
                                       {8, 8},
                                       {9, 16},
                                       {16, 16},
                                       {17, 24},
                                       {256, 256},
                                       {257, 272},
                                       {512, 512},
                                       {513, 1024},
                                       {1025, 2048}}) {
    EXPECT_EQ(BatchOf(Decode(requests)).most, most) << requests;
  }
  EXPECT_EQ(BatchOf(Decode(-1)).most, 0);
  EXPECT_EQ(BatchOf(Decode(std::numeric_limits<int64_t>::max())).most, int64_t{1} << 40);
}

TEST(StepBatch, TokensFallIntoGroupsAFifthApart) {
  std::set<int64_t> groups;
  for (int64_t tokens = 1; tokens <= 8192; ++tokens) {
    const int64_t most = BatchOf(Prefill(tokens)).most;
    EXPECT_GE(most, tokens);
    EXPECT_LE(static_cast<double>(most), 1.1893 * static_cast<double>(tokens) + 1) << tokens;
    EXPECT_EQ(BatchOf(Prefill(most)).most, most);  // the limit belongs to its own group
    groups.insert(most);
  }
  EXPECT_LE(groups.size(), 53u);
}

TEST(StepBatch, HasAName) {
  EXPECT_EQ(BatchName(BatchOf(Decode(1))), "1 request");
  EXPECT_EQ(BatchName(BatchOf(Decode(60))), "up to 64 requests");
  EXPECT_EQ(BatchName(BatchOf(Prefill(2048))), "up to 2048 tokens");
  EXPECT_EQ(BatchName({}), "any batch");
}

}  // namespace
}  // namespace tacho
