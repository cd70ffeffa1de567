#include "session/plan/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tacho {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

// A real vLLM on a CPU: 16 steps in 63 ms, 14,443 events, 3.6 MB, 0.8 s of flush.
ProfileFigures OfVllmOnCpu() {
  return {.steps = 16,
          .events = 14'443,
          .bytes = 3.6e6,
          .window_ns = 63e6,
          .flush_ns = 0.8e9,
          .table_ns = 0.75e9};
}

Outlook Counting(ProfileFigures figures, double steps_per_s) {
  return {.figures = figures, .steps_per_s = steps_per_s, .counts_steps = true};
}

AskedWindow Default() { return {.steps = {}, .time = false, .window_ns = 10 * kSecond}; }

TEST(Budget, WithoutAWordTheBudgetBoundsTheStepsInTheEngine) {
  const Budget budget;
  const WindowPlan plan = PlanWindow({Counting(OfVllmOnCpu(), 264)}, budget, Default());
  EXPECT_TRUE(plan.by_budget);
  EXPECT_EQ(plan.steps, 83);  // 5 s of flush at 50 to 60 ms a step
  EXPECT_NEAR(plan.planned->flush_ns, 4.9e9, 5e7);
  EXPECT_NEAR(plan.whole->bytes, 594e6, 1e6);
  EXPECT_EQ(plan.Text(Default(), budget),
            "about 594 MB and 202.4 s of flush a rank for 10.0 s; bounded to 83 steps: 19 MB and "
            "4.9 s of flush");
  // If no steps come, the window ends soon.
  EXPECT_LT(plan.window_ns, 4 * kSecond);
}

TEST(Budget, WhatWasAskedForIsExactAndSaidToBeOver) {
  const Budget budget;
  AskedWindow asked = Default();
  asked.time = true;
  WindowPlan plan = PlanWindow({Counting(OfVllmOnCpu(), 264)}, budget, asked);
  EXPECT_FALSE(plan.steps);
  EXPECT_EQ(plan.window_ns, 10 * kSecond);
  EXPECT_TRUE(plan.over);
  EXPECT_THAT(plan.Text(asked, budget),
              HasSubstr("for 10.0 s, as asked for: over the budget of 100 MB and 5.0 s "
                        "(--budget-bytes, --budget-flush)"));
  asked = Default();
  asked.steps = 4000;
  plan = PlanWindow({Counting(OfVllmOnCpu(), 264)}, budget, asked);
  EXPECT_EQ(plan.steps, 4000);
  EXPECT_TRUE(plan.over);
  asked.steps = 20;
  plan = PlanWindow({Counting(OfVllmOnCpu(), 264)}, budget, asked);
  EXPECT_EQ(plan.Text(asked, budget), "about 4.5 MB and 1.0 s of flush a rank for 20 steps");
}

TEST(Budget, ThoseThatCannotCountAreBoundedByTime) {
  Outlook old = Counting(OfVllmOnCpu(), 264);
  old.counts_steps = false;
  const WindowPlan plan = PlanWindow({old}, Budget(), Default());
  EXPECT_FALSE(plan.steps);
  EXPECT_EQ(plan.most_ns, plan.window_ns);
  EXPECT_NEAR(static_cast<double>(plan.window_ns), 330e6, 1e6);
  EXPECT_THAT(plan.Text(Default(), Budget()), HasSubstr("bounded to 0.3 s: "));
}

TEST(Budget, OfNothingKnownLittleIsRecorded) {
  const WindowPlan counting =
      PlanWindow({{.figures = {}, .steps_per_s = 100, .counts_steps = true}}, Budget(), Default());
  EXPECT_EQ(counting.steps, 64);
  EXPECT_EQ(counting.Text(Default(), Budget()),
            "what a step writes is not known: bounded to 64 steps");
  const WindowPlan by_time = PlanWindow({Outlook()}, Budget(), Default());
  EXPECT_EQ(by_time.window_ns, 2 * kSecond);
  EXPECT_FALSE(by_time.planned);
}

// A flush takes 15 s whatever it holds, as the line through two sessions shows.
TEST(Budget, AFixedPartOfAFlushIsNotTakenForTheSteps) {
  const ProfileFigures less{
      .steps = 4, .events = 4e3, .bytes = 1.08e6, .window_ns = 13e6, .flush_ns = 15.004e9};
  ProfileFigures figures{
      .steps = 16, .events = 16e3, .bytes = 4.3e6, .window_ns = 52e6, .flush_ns = 15.016e9};
  ASSERT_TRUE(figures.LearnFixed(less));
  EXPECT_NEAR(figures.fixed_ns, 15e9, 1e6);
  const WindowPlan plan = PlanWindow({Counting(figures, 300)}, Budget(), Default());
  EXPECT_EQ(plan.steps, 372);  // bounded by the bytes
  EXPECT_TRUE(plan.over);
  EXPECT_EQ(
      plan.Text(Default(), Budget()),
      "a flush takes 15.0 s however few steps it holds: over the budget of 5.0 s (--budget-flush); "
      "recorded: 372 steps, about 100 MB and 15.5 s of flush a rank");
  // If much of the budget is left after the fixed part, the steps get it.
  figures.fixed_ns -= 12e9;
  figures.flush_ns = figures.fixed_ns + 16 * 10e6;
  const WindowPlan within = PlanWindow({Counting(figures, 300)}, Budget(), Default());
  EXPECT_FALSE(within.over);
  EXPECT_LT(within.planned->flush_ns, 5e9);
  EXPECT_GT(within.planned->flush_ns, 4.8e9);
  EXPECT_THAT(within.Text(Default(), Budget()), HasSubstr("bounded to 1"));
}

TEST(Budget, AFixedPartIsNeverMoreThanTheSmallerFlushNorLessThanNothing) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> power(0, 11);
  const auto figure = [&] { return std::pow(10, power(random)); };
  for (int i = 0; i < 2000; ++i) {
    ProfileFigures one{.events = figure(), .flush_ns = figure()};
    ProfileFigures other{.events = figure(), .flush_ns = figure()};
    one.table_ns = one.flush_ns * 0.5;
    other.table_ns = other.flush_ns * 0.5;
    const bool told = one.LearnFixed(other);
    EXPECT_EQ(told, std::max(one.events, other.events) >= 1.5 * std::min(one.events, other.events));
    EXPECT_GE(one.fixed_ns, 0);
    EXPECT_LE(one.fixed_ns, std::min(one.flush_ns, other.flush_ns));
  }
  // The flush grows with the steps, so it has no fixed part.
  ProfileFigures more = OfVllmOnCpu(), less = OfVllmOnCpu();
  for (double ProfileFigures::*each : {&ProfileFigures::steps, &ProfileFigures::events,
                                       &ProfileFigures::flush_ns, &ProfileFigures::table_ns})
    less.*each /= 4;
  EXPECT_TRUE(more.LearnFixed(less));
  EXPECT_NEAR(more.fixed_ns, 0, 1);
}

// The engine stood still when its steps were counted, as a busy one does after a trial's flush.
TEST(Budget, ARateThatWasLowByChanceDoesNotLowerWhatIsSaid) {
  const WindowPlan plan = PlanWindow({Counting(OfVllmOnCpu(), 4)}, Budget(), Default());
  EXPECT_EQ(plan.steps, 83);
  EXPECT_NEAR(plan.planned->flush_ns, 4.9e9, 5e7);
}

TEST(Budget, AFlushThatHoldsUpNobodyIsNotCounted) {
  Outlook daemon{
      .figures = OfVllmOnCpu(), .steps_per_s = {}, .counts_steps = false, .stalls = false};
  const WindowPlan plan = PlanWindow({daemon}, Budget(), Default());
  EXPECT_NEAR(static_cast<double>(plan.window_ns), 63e6 * 100 / 3.6, 1e6);
}

TEST(Budget, AShortWindowIsNotCut) {
  ProfileFigures small = OfVllmOnCpu();
  small.flush_ns = 1e6;
  small.bytes = 1e4;
  const WindowPlan plan = PlanWindow({Counting(small, 100)}, Budget(), Default());
  EXPECT_FALSE(plan.shortened);
  EXPECT_GT(*plan.steps, 1000);
  EXPECT_EQ(plan.window_ns, 10 * kSecond);
  EXPECT_EQ(plan.Text(Default(), Budget()), "about 0.6 MB and 0.1 s of flush a rank for 10.0 s");
}

// A step costs two seconds of flush: the budget alone would hold two steps.
TEST(Budget, FewerStepsThanShowDecodingAreRecordedOnlyWhereTheUserBoundsThem) {
  ProfileFigures dear = OfVllmOnCpu();
  dear.flush_ns = 32e9;
  Budget budget;
  const WindowPlan plan = PlanWindow({Counting(dear, 264)}, budget, Default());
  EXPECT_EQ(plan.steps, kLeastSteps);
  EXPECT_TRUE(plan.over);
  EXPECT_THAT(plan.Text(Default(), budget),
              HasSubstr("bounded to 32 steps: 7.2 MB and 68.6 s of flush, the least that shows how "
                        "an engine decodes: over the budget of 100 MB and 5.0 s"));
  budget.asked = true;
  const WindowPlan asked = PlanWindow({Counting(dear, 264)}, budget, Default());
  EXPECT_EQ(asked.steps, 4);
}

// Two steps a second, for an engine that counts its steps and one that does not.
TEST(Budget, AWindowOfSlowStepsIsLongEnoughForTheLeast) {
  ProfileFigures slow = OfVllmOnCpu();
  slow.window_ns = 8e9;
  const WindowPlan counting = PlanWindow({Counting(slow, 2)}, Budget(), Default());
  EXPECT_EQ(counting.window_ns, 16 * kSecond);
  EXPECT_THAT(counting.Text(Default(), Budget()), HasSubstr("for 16.0 s"));
  Outlook old = Counting(slow, 2);
  old.counts_steps = false;
  EXPECT_EQ(PlanWindow({old}, Budget(), Default()).window_ns, 16 * kSecond);
  // The window ends, however slow the steps are.
  EXPECT_EQ(PlanWindow({Counting(slow, 0.001)}, Budget(), Default()).window_ns, 120 * kSecond);
  AskedWindow asked = Default();
  asked.time = true;
  EXPECT_EQ(PlanWindow({Counting(slow, 2)}, Budget(), asked).window_ns, 10 * kSecond);
}

// No request ended in the baseline, so its rate is unsure and must not make the forecast smaller
// than that of the steps.
TEST(Budget, AForecastThatRestsOnLittleIsThatOfItsSteps) {
  ProfileFigures slow = OfVllmOnCpu();
  slow.window_ns = 16e9;
  Outlook unsure = Counting(slow, 1);
  EXPECT_LT(PlanWindow({unsure}, Budget(), Default()).planned->bytes, 12e6);
  unsure.sure = false;
  EXPECT_NEAR(PlanWindow({unsure}, Budget(), Default()).planned->bytes, 83 * 3.6e6 / 16, 1e6);
}

// Whatever the figures, a window planned by the budget stays within it, unless the least number of
// steps exceeds it (for a budget of the user: four steps or a tenth of a second). More workers
// never get more steps.
TEST(Budget, IsKept) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> power(0, 12);
  const auto figure = [&] { return std::pow(10, power(random)); };
  for (int i = 0; i < 4000; ++i) {
    Budget budget;
    budget.asked = i % 2 == 0;
    std::vector<Outlook> workers;
    std::optional<int64_t> steps_before;
    for (int w = 0; w < 3; ++w) {
      ProfileFigures figures{.steps = std::max(1.0, figure() / 1e9),
                             .events = 1,
                             .bytes = figure(),
                             .window_ns = figure(),
                             .flush_ns = figure(),
                             .table_ns = 0};
      workers.push_back(
          {.figures = figures, .steps_per_s = figure() / 1e8, .counts_steps = random() % 2 == 0});
      const WindowPlan plan = PlanWindow(workers, budget, Default());
      EXPECT_LE(plan.steps.value_or(0), steps_before.value_or(INT64_MAX));
      if (plan.steps) steps_before = plan.steps;
      EXPECT_GE(plan.steps.value_or(kLeastSteps), budget.asked ? 4 : kLeastSteps);
      for (const Outlook& one : workers) {
        const Forecast forecast =
            one.counts_steps ? ForecastOfSteps(*one.figures, static_cast<double>(*plan.steps))
                             : ForecastOfTime(*one.figures, {}, *plan.most_ns);
        const int64_t least_steps = budget.asked ? 4 : kLeastSteps;
        const double least_ns =
            budget.asked ? 1e8 : std::max(1e8, 1e9 * kLeastSteps / *one.steps_per_s);
        if (one.counts_steps ? *plan.steps <= least_steps
                             : static_cast<double>(*plan.most_ns) <= least_ns + 1)
          continue;
        EXPECT_LE(forecast.bytes, static_cast<double>(budget.bytes) * 1.001);
        EXPECT_LE(forecast.flush_ns, static_cast<double>(budget.flush_ns) * 1.001);
      }
      EXPECT_LE(plan.window_ns, (budget.asked ? 10 : 120) * kSecond);
      EXPECT_GT(plan.window_ns, 0);
    }
  }
}

}  // namespace
}  // namespace tacho
