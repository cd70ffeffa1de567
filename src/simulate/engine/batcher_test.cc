#include "simulate/engine/batcher.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace tacho::simulate {
namespace {

BatchRequest Request(uint64_t id, int64_t prompt, int64_t output, int64_t cached = 0) {
  return {id, prompt, cached, output, 0};
}

// Runs the batcher until it is idle and returns all steps.
std::vector<StepBatch> RunAll(Batcher& batcher) {
  std::vector<StepBatch> steps;
  for (;;) {
    StepBatch batch = batcher.Schedule();
    if (batch.empty()) return steps;
    batcher.Complete(batch);
    steps.push_back(std::move(batch));
  }
}

TEST(Batcher, ReadsThePromptThenMakesOneTokenAStep) {
  Batcher batcher({});
  batcher.Add(Request(1, 32, 3));
  const auto steps = RunAll(batcher);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].load.context.tokens, 32);
  EXPECT_EQ(steps[0].load.sampled, 1);
  EXPECT_EQ(steps[1].load.generation.tokens, 1);
  EXPECT_EQ(steps[1].load.generation.kv, 33);
  EXPECT_EQ(steps[2].load.generation.kv, 34);
  EXPECT_TRUE(batcher.idle());
  EXPECT_EQ(batcher.cache_tokens_used(), 0);
}

TEST(Batcher, LongPromptIsReadInPiecesBesideTheOthers) {
  BatcherLimits limits;
  limits.max_num_batched_tokens = 16;
  Batcher batcher(limits);
  batcher.Add(Request(1, 4, 10));
  batcher.Complete(batcher.Schedule());
  batcher.Add(Request(2, 40, 2));
  const StepBatch mixed = batcher.Schedule();
  EXPECT_EQ(mixed.load.generation.tokens, 1);
  EXPECT_EQ(mixed.load.context.tokens, 15);
  EXPECT_EQ(mixed.load.tokens(), 16);
  EXPECT_EQ(mixed.load.sampled, 1);
}

TEST(Batcher, PromptsComeFirstWhenTheyDoNotMix) {
  BatcherLimits limits;
  limits.mixes = false;
  Batcher batcher(limits);
  batcher.Add(Request(1, 4, 10));
  batcher.Complete(batcher.Schedule());
  batcher.Add(Request(2, 40, 2));
  const StepBatch extend = batcher.Schedule();
  EXPECT_EQ(extend.load.context.requests, 1);
  EXPECT_EQ(extend.load.generation.requests, 0);
  batcher.Complete(extend);
  EXPECT_EQ(batcher.Schedule().load.generation.requests, 2);
}

TEST(Batcher, CachedBeginningIsNotReadAgain) {
  Batcher batcher({});
  batcher.Add(Request(1, 32, 1, 16));
  EXPECT_EQ(batcher.Schedule().load.context.tokens, 16);
}

TEST(Batcher, AbortedRequestGetsNothingFromItsStep) {
  Batcher batcher({});
  batcher.Add(Request(1, 8, 4));
  batcher.Add(Request(2, 8, 4));
  const StepBatch step = batcher.Schedule();
  EXPECT_TRUE(batcher.Abort(1));
  EXPECT_FALSE(batcher.Abort(1));
  const auto outputs = batcher.Complete(step);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].id, 2U);
}

TEST(Batcher, WaitsForRoomInTheCache) {
  BatcherLimits limits;
  limits.cache_tokens = 100;
  Batcher batcher(limits);
  batcher.Add(Request(1, 60, 20));
  batcher.Add(Request(2, 30, 10));
  batcher.Complete(batcher.Schedule());
  EXPECT_EQ(batcher.running(), 1U);
  EXPECT_EQ(batcher.waiting(), 1U);
  RunAll(batcher);
  EXPECT_TRUE(batcher.idle());
}

// Two prompts fit, not their answers: the second is read again, with what it had made.
TEST(Batcher, APreemptedRequestIsReadAgainAsAGeneratingOne) {
  Batcher batcher({.max_num_batched_tokens = 60, .cache_tokens = 84, .preempts = true});
  batcher.Add(Request(1, 40, 4));
  batcher.Add(Request(2, 40, 4));
  std::map<uint64_t, std::vector<int64_t>> tokens;  // in each of its steps
  int64_t again = 0;
  for (int turn = 0; !batcher.idle() && turn < 50; ++turn) {
    const StepBatch batch = batcher.Schedule();
    for (const BatchShare& share : batch.shares) tokens[share.id].push_back(share.tokens);
    if (batch.load.generation.tokens > batch.load.generation.requests) ++again;
    batcher.Complete(batch);
  }
  EXPECT_EQ(tokens[1], (std::vector<int64_t>{40, 1, 1, 1}));
  EXPECT_EQ(again, 1);
  EXPECT_EQ(tokens[2], (std::vector<int64_t>{20, 20, 41, 1, 1}));
}

// For any load: every prompt token is read once, every answer has its length, no step exceeds the
// limits.
TEST(Batcher, AddsUpForAnyLoad) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random = Random::FromState(seed);
    BatcherLimits limits;
    limits.max_num_seqs = random.Between(1, 20);
    limits.max_num_batched_tokens = random.Between(20, 300);
    limits.mixes = random.Between(0, 1) == 1;
    limits.chunked_prefill = random.Between(0, 3) != 0;
    limits.cache_tokens = random.Between(100, 2000);
    limits.preempts = seed % 2 == 1;
    Batcher batcher(limits);
    std::map<uint64_t, BatchRequest> requests;
    std::map<uint64_t, int64_t> read, made;
    for (uint64_t id = 1; id <= 40; ++id) {
      requests[id] = Request(id, random.Between(1, 400), random.Between(1, 30));
    }
    uint64_t next = 1;
    for (int turn = 0; next <= 40 || !batcher.idle(); ++turn) {
      ASSERT_LT(turn, 100'000);
      for (int64_t n = random.Between(0, 3); n > 0 && next <= 40; --n) {
        batcher.Add(requests[next++]);
      }
      const StepBatch batch = batcher.Schedule();
      const int64_t people = static_cast<int64_t>(batch.shares.size());
      EXPECT_LE(people, limits.max_num_seqs);
      if (limits.chunked_prefill || people > 1) {
        EXPECT_LE(batch.load.tokens(), limits.max_num_batched_tokens);
      }
      if (!limits.mixes) {
        EXPECT_TRUE(batch.load.context.requests == 0 || batch.load.generation.requests == 0);
      }
      for (const BatchShare& share : batch.shares) {
        if (share.is_context) read[share.id] += share.tokens;
      }
      for (const BatchOutput& output : batcher.Complete(batch)) {
        EXPECT_EQ(output.first_token, made[output.id] == 0);
        ++made[output.id];
        EXPECT_EQ(output.finished, made[output.id] == requests[output.id].output_tokens);
      }
    }
    for (const auto& [id, request] : requests) {
      // Who loses its place while its prompt is read begins anew.
      if (limits.preempts) {
        EXPECT_GE(read[id], request.prompt_tokens) << seed;
      } else {
        EXPECT_EQ(read[id], request.prompt_tokens) << seed;
      }
      EXPECT_EQ(made[id], request.output_tokens) << seed;
    }
    EXPECT_EQ(batcher.cache_tokens_used(), 0);
  }
}

TEST(Batcher, SpeculativeStepsMakeTheAcceptedTokensAndOneMore) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    BatcherLimits limits;
    limits.mixes = random.Below(2) == 0;
    limits.proposed = random.Between(1, 4);
    limits.acceptance = 0.25 * static_cast<double>(random.Between(0, 4));
    Batcher batcher(limits);
    std::map<uint64_t, int64_t> left, lengths;
    for (uint64_t id = 1; id <= 9; ++id) {
      batcher.Add(Request(id, 8, left[id] = random.Between(1, 40)));
      lengths[id] = 8;
    }
    int64_t drafts = 0, accepted = 0;
    for (StepBatch batch = batcher.Schedule(); !batch.empty(); batch = batcher.Schedule()) {
      const StepLoad& load = batch.load;
      if (load.proposed > 0) {
        EXPECT_EQ(load.context.requests, 0);
        EXPECT_EQ(load.generation.tokens, load.generation.requests * (limits.proposed + 1));
        drafts += load.generation.requests;
        accepted += load.accepted;
      }
      std::map<uint64_t, int64_t> made;
      for (const BatchShare& share : batch.shares) {
        made[share.id] = std::min(1 + share.accepted, left[share.id]);
        if (share.is_context) continue;
        lengths[share.id] += 1 + share.accepted;
        EXPECT_EQ(share.length_after, lengths[share.id]) << seed;
      }
      for (const BatchOutput& output : batcher.Complete(batch)) {
        EXPECT_EQ(output.tokens, made[output.id]) << seed;
        left[output.id] -= output.tokens;
        EXPECT_EQ(output.finished, left[output.id] == 0) << seed;
      }
    }
    for (const auto& [id, tokens] : left) EXPECT_EQ(tokens, 0) << seed;
    const int64_t most = drafts * limits.proposed;
    EXPECT_LE(accepted, limits.acceptance == 0 ? 0 : most) << seed;
    EXPECT_GE(accepted, limits.acceptance == 1 ? most : 0) << seed;
  }
}

}  // namespace
}  // namespace tacho::simulate
