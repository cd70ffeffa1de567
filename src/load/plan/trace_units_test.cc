#include "load/plan/trace_units.h"

#include <gmock/gmock.h>

#include "base/random.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Hashed = std::vector<std::pair<int64_t, size_t>>;

TraceUnits OfStamps(std::vector<double> stamps, Hashed hashed = {}) {
  return UnitsOf({.stamps = std::move(stamps), .hashed = std::move(hashed)});
}
double UnitOf(std::vector<double> stamps) { return OfStamps(std::move(stamps)).seconds_a_unit; }
int64_t BlockOf(Hashed hashed) { return OfStamps({}, std::move(hashed)).block_tokens; }

TEST(TraceUnits, ABlockHasTheSizeThatFitsAllPrompts) {
  for (const bool up : {true, false})  // whether the last, shorter block has an id too
    for (const int64_t block : {8, 16, 32, 64, 128, 256, 512, 1024}) {
      Hashed hashed;
      for (const int64_t tokens : {50, 521, 6955, 12'345, 700, 33'333})
        if (const auto ids = (tokens + (up ? block - 1 : 0)) / block; ids > 0)
          hashed.emplace_back(tokens, ids);
      EXPECT_EQ(BlockOf(hashed), block) << up;
    }
  // The size is no power of two: the prompt that fills its blocks shows it.
  EXPECT_EQ(BlockOf({{300, 3}, {250, 3}, {1000, 10}, {901, 10}}), 100);
}

TEST(TraceUnits, ABlockIsMooncakesWhereNothingSpeaksAgainstIt) {
  EXPECT_EQ(BlockOf({}), 512);
  EXPECT_EQ(BlockOf({{10, 1}, {512, 1}}), 512);
  EXPECT_EQ(BlockOf({{6955, 14}, {600, 2}}), 512);
  const TraceUnits odd = OfStamps({}, {{50, 4}, {60, 1}, {70, 9}, {7000, 2}, {70, 3}});
  EXPECT_EQ(odd.block_tokens, 512);
  EXPECT_THAT(odd.block_remark, HasSubstr("4 of 5 prompts have too many or too few for that"));
}

TEST(TraceUnits, AFewOddPromptsDoNotCount) {
  Hashed hashed(99, {50, 4});
  hashed.emplace_back(50, 17);
  const TraceUnits units = OfStamps({}, hashed);
  EXPECT_EQ(units.block_tokens, 16);
  EXPECT_THAT(units.block_remark, HasSubstr("1 of 100 prompts"));
}

TEST(TraceUnits, FractionsAreSecondsUnlessMinutesApart) {
  EXPECT_EQ(UnitOf({0, 1.5, 3}), 1);
  EXPECT_EQ(UnitOf({61.114, 62.5, 63}), 1);
  EXPECT_EQ(UnitOf({0, 250.5, 500.25, 750}), 1e-3);
  EXPECT_EQ(UnitOf({0.0, 3000.0, 6000.0}), 1e-3) << "no fractions, though written with a point";
  EXPECT_THAT(OfStamps({0, 1.5}).time_remark, HasSubstr("--timed-trace-sec-multiplier 0.001"));
  EXPECT_THAT(OfStamps({0, 3000}).time_remark, HasSubstr("--timed-trace-sec-multiplier 1:"));
}

TEST(TraceUnits, WholeNumbersAreMillisecondsUnlessTooManyRequestsCome) {
  EXPECT_EQ(UnitOf({0, 3000, 3000, 6000}), 1e-3);
  EXPECT_EQ(UnitOf({0, 0, 0, 1, 1, 1, 2}), 1);
  EXPECT_EQ(UnitOf({0, 2, 5}), 1e-3);
  EXPECT_EQ(OfStamps({0, 2, 5}, {{50, 4}, {60, 4}, {70, 5}}).seconds_a_unit, 1);
  EXPECT_EQ(OfStamps({0, 2, 5}, {{130, 3}, {200, 4}, {64, 1}}).seconds_a_unit, 1);
  EXPECT_EQ(OfStamps({0, 2000, 5000}, {{50, 4}, {60, 4}, {70, 5}}).seconds_a_unit, 1e-3);
}

TEST(TraceUnits, TimesOfTheEpochHaveTheDigitsOfTheirUnit) {
  for (const double unit : {1.0, 1e-3, 1e-6, 1e-9})
    EXPECT_EQ(UnitOf({1.7e9 / unit, (1.7e9 + 1) / unit}), unit);
  EXPECT_EQ(UnitOf({1.7e18}), 1e-9) << "one is enough";
}

TEST(TraceUnits, AnOrderOfRowsChangesNothing) {
  Random random(1, 2);
  for (int round = 0; round < 100; ++round) {
    TraceSigns signs;
    for (int i = 0; i < 9; ++i) {
      signs.stamps.push_back(static_cast<double>(random.Below(50)) / 4);
      signs.hashed.emplace_back(1 + random.Below(900), 1 + random.Below(9));
    }
    TraceSigns other = signs;
    std::reverse(other.stamps.begin(), other.stamps.end());
    std::reverse(other.hashed.begin(), other.hashed.end());
    const TraceUnits one = UnitsOf(signs), two = UnitsOf(other);
    EXPECT_EQ(one.seconds_a_unit, two.seconds_a_unit);
    EXPECT_EQ(one.block_tokens, two.block_tokens);
    EXPECT_EQ(one.time_remark + one.block_remark, two.time_remark + two.block_remark);
  }
}

TEST(TraceUnits, AnOptionComesFirstAndIsContradictedByTheLengthsAlone) {
  const TraceUnits given =
      UnitsOf({.stamps = {0, 1.5}, .hashed = {{50, 4}}, .given_unit = 60, .given_block = 16});
  EXPECT_EQ(given.seconds_a_unit, 60);
  EXPECT_EQ(given.block_tokens, 16);
  EXPECT_THAT(given.time_remark + given.block_remark, IsEmpty());
  const TraceUnits wrong = UnitsOf({.hashed = {{50, 4}}, .given_block = 512});
  EXPECT_EQ(wrong.block_tokens, 512);
  EXPECT_THAT(wrong.block_remark, HasSubstr("512 tokens, as the options say; 1 of 1 prompts"));
}

TEST(TraceUnits, BailiansKeysSaySecondsAndSixteenTokens) {
  const TraceUnits units =
      UnitsOf({.stamps = {0, 700, 1400}, .hashed = {{10, 1}}, .is_bailian = true});
  EXPECT_EQ(units.seconds_a_unit, 1);
  EXPECT_EQ(units.block_tokens, 16);
  EXPECT_EQ(UnitsOf({.hashed = {{6955, 14}}, .is_bailian = true}).block_tokens, 512)
      << "unless the lengths say otherwise";
}

}  // namespace
}  // namespace tacho
