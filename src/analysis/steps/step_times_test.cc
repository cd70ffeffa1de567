#include "analysis/steps/step_times.h"

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace tacho {
namespace {

TEST(StepTimes, AreFromStartToStartAndLeaveOutPauses) {
  TraceBuilder b;
  // Periods of 10, 10, 40 (at most four times the median) and 41 (a pause); the last has none.
  for (const int64_t start : {0, 10, 20, 60, 101})
    b.Host("user_annotation", "step[DECODE bs=1]", {.start = start, .duration = 5});
  // Steps of another phase on another thread.
  for (const int64_t start : {0, 400})
    b.Host("user_annotation", "step[EXTEND bs=1 toks=9]",
           {.tid = "2", .start = start, .duration = 7});
  std::vector<Interval> decode, prefill;
  const StepTable table = FindSteps(std::move(b).Finish());
  const std::vector<Interval> times = StepTimes(table.steps);
  ASSERT_EQ(times.size(), table.steps.size());
  for (size_t i = 0; i < times.size(); ++i)
    (table.steps[i].label.phase == Phase::kDecode ? decode : prefill).push_back(times[i]);
  EXPECT_EQ(decode, (std::vector<Interval>{
                        {{0}, {10}}, {{10}, {20}}, {{20}, {60}}, {{60}, {65}}, {{101}, {106}}}));
  EXPECT_EQ(prefill, (std::vector<Interval>{{{0}, {400}}, {{400}, {407}}}));
  EXPECT_TRUE(StepTimes({}).empty());
}

}  // namespace
}  // namespace tacho
