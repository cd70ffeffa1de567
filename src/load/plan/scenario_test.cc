#include "load/plan/scenario.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "load/plan/kolmogorov_for_test.h"
#include "load/plan/plan.h"

namespace tacho {
namespace {

using testing::HasSubstr;

// The share of a table up to a value: the inverse of At.
double ShareUpTo(const QuantileTable& table, double value) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (table.At(middle) <= value ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Lengths are whole numbers, so the distance is taken halfway between them, which makes the test
// conservative.
double KolmogorovOfLengths(std::vector<double> lengths, const QuantileTable& table) {
  std::sort(lengths.begin(), lengths.end());
  const auto n = static_cast<double>(lengths.size());
  double most = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (i + 1 < lengths.size() && lengths[i + 1] == lengths[i]) continue;
    const double below = static_cast<double>(i + 1) / n;
    most = std::max(most, std::abs(below - ShareUpTo(table, lengths[i] + 0.5)));
  }
  return most * std::sqrt(n);
}

// The critical value for one false alarm in a hundred runs over sixteen tables.
constexpr double kOneInHundredOfSixteen = 2.0;

TEST(Random, NormalVariablesAreNormal) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    Random random(seed);
    std::vector<double> samples(20'000);
    for (double& sample : samples) sample = random.Normal();
    EXPECT_LT(KolmogorovOf(samples, [](double x) { return std::erfc(-x / std::sqrt(2)) / 2; }),
              kOneInHundred);
  }
}

TEST(Scenario, LengthsFollowTheirTables) {
  for (const Scenario& scenario : Scenarios()) {
    Random random(5);
    std::vector<double> prompts, outputs;
    for (int i = 0; i < 20000; ++i) {
      const auto lengths = scenario.Draw(random);
      prompts.push_back(static_cast<double>(lengths.prompt));
      outputs.push_back(static_cast<double>(lengths.output));
    }
    EXPECT_LT(KolmogorovOfLengths(prompts, scenario.prompt), kOneInHundredOfSixteen)
        << scenario.name;
    EXPECT_LT(KolmogorovOfLengths(outputs, scenario.output), kOneInHundredOfSixteen)
        << scenario.name;
  }
}

TEST(Scenario, MeansAreThoseOfTheRealSets) {
  const auto near = [](const char* name, double prompt, double output) {
    const Scenario& scenario = **FindScenario(name);
    EXPECT_NEAR(scenario.prompt.Mean() / prompt, 1, 0.08) << name;
    EXPECT_NEAR(scenario.output.Mean() / output, 1, 0.12) << name;
  };
  // Means of the published distributions (the tables name their sources); a line between
  // percentiles is not the curve itself.
  near("chat", 1155, 211);
  near("code", 2048, 28);
  near("rag", 2944, 283);
  near("longchat", 12035, 343);
}

TEST(Scenario, RagsLengthsBelongTogether) {
  Random random(3);
  const Scenario& rag = **FindScenario("rag");
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    const auto lengths = rag.Draw(random);
    const auto a = static_cast<double>(lengths.prompt), b = static_cast<double>(lengths.output);
    x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  const double correlation =
      (kCount * xy - x * y) / std::sqrt((kCount * xx - x * x) * (kCount * yy - y * y));
  EXPECT_NEAR(correlation, 0.43, 0.06);
}

TEST(Scenario, EachSaysWhatItIs) {
  for (const Scenario& scenario : Scenarios()) {
    EXPECT_THAT(scenario.about, HasSubstr(":")) << scenario.name;
    ASSERT_FALSE(scenario.prompt.empty() || scenario.output.empty()) << scenario.name;
    EXPECT_EQ(scenario.prompt.percent.front(), 0);
    EXPECT_EQ(scenario.prompt.percent.back(), 100);
  }
}

TEST(Scenario, TheErrorForAnUnknownOneNamesTheKnownOnes) {
  const auto none = FindScenario("chatt");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(none.error().message,
            "no scenario 'chatt', did you mean chat? (there are chat, rag, code, longchat, "
            "summarisation, reasoning, agent, rl-rollout)");
}

TEST(Mix, WeightsCountByTheirShare) {
  const auto mix = ParseMix("chat=60,rag:30,code=20");
  ASSERT_TRUE(mix);
  EXPECT_EQ(mix->parts.size(), 3u);
  EXPECT_EQ(mix->parts[1].scenario, "rag");
  EXPECT_EQ(mix->sum, 110);
  EXPECT_EQ(MixNote(*mix),
            "the mix adds up to 110, not to 100: each part counts by its share of that");
  EXPECT_EQ(MixNote(*ParseMix("chat=60,rag=30,code=10")), "");
  EXPECT_EQ(MixNote(*ParseMix("chat=0.6,rag=0.3,code=0.1")), "");
  EXPECT_EQ(MixNote(*ParseMix("rag")), "");
}

TEST(Mix, InvalidMixesAreRefused) {
  for (const char* text : {"chat=", "chat=x", "chat=-1", "chat=1,,rag=1", "chat,rag", "tchat=1",
                           "chat=0", "", "chat=1e999"}) {
    const auto mix = ParseMix(text);
    ASSERT_FALSE(mix) << text;
    EXPECT_EQ(mix.error().kind, ErrorKind::kUsage) << text;
  }
}

TEST(Mix, ThePlanHasItsShares) {
  PlanOptions options;
  options.requests = 20'000;
  options.seed = 4;
  std::map<std::string, double> counts;
  const auto plan = MakePlan(options);
  for (const PlannedRequest& request : plan->requests) ++counts[request.scenario];
  // Three standard deviations of a binomial distribution.
  EXPECT_NEAR(counts["chat"], 12'000, 3 * std::sqrt(20'000 * 0.6 * 0.4));
  EXPECT_NEAR(counts["rag"], 6'000, 3 * std::sqrt(20'000 * 0.3 * 0.7));
  EXPECT_NEAR(counts["code"], 2'000, 3 * std::sqrt(20'000 * 0.1 * 0.9));
}

}  // namespace
}  // namespace tacho
