#include "simulate/known/known_traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

KnownTrafficOptions SmallTraffic(SimulatedEngine engine = SimulatedEngine::kVllm) {
  KnownTrafficOptions options;
  options.run.engine = engine;
  options.run.layers = 1;
  options.requests = 40;
  options.gap_ns = 1'500'000;
  return options;
}

// The properties of every run: which steps a request takes part in, in which order.
void ExpectConsistent(const KnownTraffic& traffic) {
  std::vector<std::map<int64_t, int64_t>> read(traffic.engines.size()),
      made(traffic.engines.size());
  for (const KnownRequest& request : traffic.requests) {
    const auto engine = static_cast<size_t>(request.engine);
    int64_t tokens = 0, before = -1;
    for (const KnownRead& part : request.reads) {
      EXPECT_GT(part.step, before);
      before = part.step;
      tokens += part.tokens;
      read[engine][part.step] += part.tokens;
    }
    if (!request.failed) {
      EXPECT_EQ(tokens, request.prompt_tokens - request.cached_tokens);
      EXPECT_EQ(request.tokens.size(), static_cast<size_t>(request.output_tokens));
      EXPECT_EQ(request.tokens.front().step, request.reads.back().step);
    }
    int64_t seen = request.sent_ns;
    for (size_t i = 0; i < request.tokens.size(); ++i) {
      const KnownToken& token = request.tokens[i];
      EXPECT_GT(token.step, i == 0 ? -1 : request.tokens[i - 1].step);
      EXPECT_GE(token.seen_ns, seen);
      // The client sees it after its step's end, by the true relation of the clocks.
      EXPECT_GT(token.seen_ns + traffic.true_offset_ns[engine], token.made_ns);
      seen = token.seen_ns;
      ++made[engine][token.step];
    }
    EXPECT_GE(request.wait_prefill_ns, 0);
    EXPECT_GE(request.ended_ns, seen);
  }
  for (size_t engine = 0; engine < traffic.engines.size(); ++engine) {
    const Recording& recording = traffic.engines[engine].recording;
    for (size_t i = 0; i < recording.steps.size(); ++i) {
      EXPECT_EQ(recording.steps[i].load.context.tokens, read[engine][static_cast<int64_t>(i)]);
      // The client may have left before it got its token.
      EXPECT_GE(recording.steps[i].load.sampled, made[engine][static_cast<int64_t>(i)]);
    }
    EXPECT_LE(std::abs(traffic.true_offset_ns[engine] - traffic.stated_offset_ns[engine]),
              traffic.options.clock_error_ns);
  }
}

TEST(KnownTraffic, EachTokenAndEachPartOfAPromptHasItsStep) {
  for (const SimulatedEngine engine : {SimulatedEngine::kVllm, SimulatedEngine::kSglang}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      KnownTrafficOptions options = SmallTraffic(engine);
      options.load_seed = seed;
      options.engines = static_cast<int64_t>(seed % 3) + 1;
      options.front = seed % 2 == 0 ? TrafficFront::kDataParallel : TrafficFront::kRouter;
      options.cached = 0.3;
      options.failed = 0.2;
      options.limits.max_num_seqs = 8;
      options.limits.max_num_batched_tokens = 512;
      ExpectConsistent(*MakeKnownTraffic(options));
    }
  }
}

TEST(KnownTraffic, IsTheSameForTheSameOptions) {
  EXPECT_EQ(TrafficTruth(*MakeKnownTraffic(SmallTraffic())),
            TrafficTruth(*MakeKnownTraffic(SmallTraffic())));
}

TEST(KnownTraffic, WaitsOnlyForThePromptsOfOthers) {
  KnownTrafficOptions alone = SmallTraffic();
  alone.gap_ns = 30'000'000'000;  // no two requests meet
  const KnownTraffic apart = *MakeKnownTraffic(alone);
  for (const KnownRequest& request : apart.requests) EXPECT_EQ(request.wait_prefill_ns, 0);
  const KnownTraffic busy = *MakeKnownTraffic(SmallTraffic());
  EXPECT_TRUE(std::ranges::any_of(
      busy.requests, [](const KnownRequest& r) { return r.wait_prefill_ns > 100'000; }));
  // The wait is part of the time from the first token to the last one.
  for (const KnownRequest& request : busy.requests)
    EXPECT_LE(request.wait_prefill_ns,
              request.tokens.back().made_ns - request.tokens.front().made_ns);
}

TEST(KnownTraffic, ALaterStartLeavesTheFirstStepsOut) {
  KnownTrafficOptions part = SmallTraffic();
  part.recorded_from = 0.4;
  part.recorded_to = 0.7;
  const KnownTraffic whole = *MakeKnownTraffic(SmallTraffic()), cut = *MakeKnownTraffic(part);
  const Recording &all = whole.engines[0].recording, &some = cut.engines[0].recording;
  const auto first = static_cast<size_t>(cut.first_step[0]);
  ASSERT_GT(first, 0u);
  ASSERT_LT(first + some.steps.size(), all.steps.size());
  EXPECT_EQ(some.steps[0].start_ns, all.steps[first].start_ns);
  for (size_t i = 0; i < whole.requests.size(); ++i) {
    ASSERT_EQ(whole.requests[i].tokens.size(), cut.requests[i].tokens.size());
    for (size_t t = 0; t < whole.requests[i].tokens.size(); ++t) {
      EXPECT_EQ(whole.requests[i].tokens[t].step,
                cut.requests[i].tokens[t].step + cut.first_step[0]);
    }
  }
  const Json truth = Json::parse(TrafficTruth(cut));
  EXPECT_TRUE(truth["requests"].front()["tokens"].front()["step"].is_null());
}

TEST(KnownTraffic, RefusesWhatItCannotMake) {
  const auto refused = [](auto&& change) {
    KnownTrafficOptions options = SmallTraffic();
    change(options);
    return !MakeKnownTraffic(options).has_value();
  };
  EXPECT_TRUE(refused([](auto& o) { o.requests = 0; }));
  EXPECT_TRUE(refused([](auto& o) { o.engines = 65; }));
  EXPECT_TRUE(refused([](auto& o) { o.gap_ns = -1; }));
  EXPECT_TRUE(refused([](auto& o) { o.failed = 1.5; }));
  EXPECT_TRUE(refused([](auto& o) { o.recorded_from = o.recorded_to; }));
  EXPECT_TRUE(refused([](auto& o) { o.run.model = "none"; }));
}

}  // namespace
}  // namespace tacho::simulate
