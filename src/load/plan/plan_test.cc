#include "load/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

LoadPlan Make(const PlanOptions& options) {
  auto plan = MakePlan(options);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : LoadPlan{};
}

bool Same(const PlannedRequest& a, const PlannedRequest& b) {
  return a.scenario == b.scenario && a.prompt_tokens == b.prompt_tokens &&
         a.output_tokens == b.output_tokens && a.seed == b.seed;
}

TEST(Plan, TheSeedDecidesAllButTheSalt) {
  PlanOptions options;
  options.requests = 200;
  options.rate = 10;
  options.seed = 7;
  const LoadPlan one = Make(options), other = Make(options);
  ASSERT_EQ(one.requests.size(), 200u);
  EXPECT_NE(one.salt, other.salt);
  for (size_t i = 0; i < 200; ++i) {
    EXPECT_TRUE(Same(one.requests[i], other.requests[i]));
    EXPECT_EQ(one.requests[i].at_ns, other.requests[i].at_ns);
  }
  options.seed = 8;
  EXPECT_FALSE(Same(Make(options).requests[0], one.requests[0]));
}

TEST(Plan, LengthsBeyondAnyModelAreRefused) {
  PlanOptions options;
  options.requests = 1;
  options.prompt_tokens = kMostTokens;
  options.output_tokens = 1;
  EXPECT_TRUE(CheckPlan(options));
  options.prompt_tokens = kMostTokens + 1;
  EXPECT_FALSE(CheckPlan(options));
  options.prompt_tokens = 1;
  options.output_tokens = INT64_MAX;
  EXPECT_FALSE(CheckPlan(options));
}

TEST(Plan, ARequestDependsOnNeitherTimesNorNumber) {
  PlanOptions options;
  options.requests = 50;
  const LoadPlan few = Make(options);
  options.requests = 500;
  options.rate = 3;
  options.burstiness = 0.3;
  const LoadPlan many = Make(options);
  for (size_t i = 0; i < 50; ++i) EXPECT_TRUE(Same(few.requests[i], many.requests[i]));
}

TEST(Plan, WithoutAnEndNeedsARoundAndNoNumberOfRequests) {
  PlanOptions options;
  options.until_stopped = true;
  EXPECT_FALSE(CheckPlan(options));
  options.duration_ns = 1'000'000'000;
  EXPECT_TRUE(CheckPlan(options));
  EXPECT_TRUE(Make(options).GoesRound());
  options.rate = 10;
  EXPECT_TRUE(Make(options).GoesRound());
  options.requests = 5;
  EXPECT_FALSE(CheckPlan(options));
}

}  // namespace
}  // namespace tacho
