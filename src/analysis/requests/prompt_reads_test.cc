#include "analysis/requests/prompt_reads.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tacho {
namespace {

StepLabel Reads(int64_t requests, int64_t tokens) {
  return {requests > 0 ? Phase::kMixed : Phase::kDecode, requests, tokens, 1, 1};
}

TEST(PromptReads, APromptInOneStep) {
  const auto reads = FindPromptReads({Reads(0, 0), Reads(1, 100), Reads(0, 0)}, {{1, 100}}, {0});
  EXPECT_EQ(reads, (std::vector<PromptReads>{{1, 1}}));
}

TEST(PromptReads, ALongPromptInSeveralSteps) {
  const auto reads = FindPromptReads({Reads(1, 64), Reads(1, 64), Reads(1, 22)}, {{2, 150}}, {0});
  EXPECT_EQ(reads, (std::vector<PromptReads>{{0, 0}}));
}

TEST(PromptReads, TheStepThatCompletesOnePromptBeginsTheNext) {
  const auto reads =
      FindPromptReads({Reads(2, 64), Reads(1, 64), Reads(1, 12)}, {{0, 40}, {2, 100}}, {0, 0});
  EXPECT_EQ(reads, (std::vector<PromptReads>{{0, 0}, {0, 0}}));
}

TEST(PromptReads, WhichOfTwoIsHalfReadIsUnknown) {
  // 24 tokens of one of the two were read in step 0.
  const auto reads =
      FindPromptReads({Reads(2, 64), Reads(2, 76)}, {{0, 40}, {1, 50}, {1, 50}}, {0, 0, 0});
  EXPECT_EQ(reads, (std::vector<PromptReads>{{0, 0}, {0, 1}, {0, 1}}));
  // The second one was not there yet.
  EXPECT_EQ(FindPromptReads({Reads(2, 64), Reads(2, 76)}, {{0, 40}, {1, 50}, {1, 50}}, {0, 0, 1}),
            (std::vector<PromptReads>{{0, 0}, {0, 0}, {1, 1}}));
}

TEST(PromptReads, AnotherUsersPromptLeavesThemUnknown) {
  const auto reads =
      FindPromptReads({Reads(1, 30), Reads(2, 130), Reads(1, 100)}, {{1, 100}, {2, 100}}, {0, 2});
  EXPECT_EQ(reads, (std::vector<PromptReads>{{0, 1}, {2, 2}}));
}

TEST(PromptReads, AnUnknownLabelOrLengthSaysNothing) {
  EXPECT_EQ(FindPromptReads({Reads(-1, -1), Reads(-1, -1)}, {{1, 100}}, {0}),
            (std::vector<PromptReads>{{0, 1}}));
  EXPECT_EQ(FindPromptReads({Reads(0, 0), Reads(1, 100)}, {{1, {}}}, {0}),
            (std::vector<PromptReads>{{0, 1}}));
}

// First come, first served, with a budget of tokens: the truth lies within what is found.
TEST(PromptReads, ContainTheTruthOfRandomSchedules) {
  size_t exact = 0, all = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    struct Prompt {
      int64_t tokens, left;
      uint32_t arrives, first = UINT32_MAX, last = 0;
    };
    std::vector<Prompt> prompts;
    uint32_t at = 0;
    const int64_t count = random.Between(1, 30), budget = random.Between(32, 200);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t tokens = random.Between(1, 300);
      at += static_cast<uint32_t>(random.Between(0, 3));
      prompts.push_back({tokens, tokens, at});
    }
    std::vector<StepLabel> labels;
    for (bool any = true; any || labels.size() <= at;) {
      any = false;
      const auto step = static_cast<uint32_t>(labels.size());
      int64_t room = budget, requests = 0;
      for (Prompt& prompt : prompts) {
        if (prompt.arrives > step || prompt.left == 0 || room == 0) continue;
        const int64_t reads = std::min(room, prompt.left);
        prompt.first = std::min(prompt.first, step);
        prompt.last = step;
        prompt.left -= reads;
        room -= reads;
        ++requests;
        any = true;
      }
      labels.push_back(Reads(requests, budget - room));
    }
    std::vector<PromptToRead> to_read;
    std::vector<uint32_t> earliest;
    for (const Prompt& prompt : prompts) {
      to_read.push_back({prompt.last, prompt.tokens});
      earliest.push_back(prompt.arrives);
    }
    const auto reads = FindPromptReads(labels, to_read, earliest);
    for (size_t i = 0; i < prompts.size(); ++i) {
      EXPECT_LE(reads[i].first_at_least, prompts[i].first) << seed;
      EXPECT_GE(reads[i].first_at_most, prompts[i].first) << seed;
      exact += reads[i].exact() ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GT(exact, all * 8 / 10);
}

}  // namespace
}  // namespace tacho
