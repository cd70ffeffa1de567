#include "analysis/device/in_flight.h"

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace tacho {
namespace {

InFlight Until(int64_t end) { return {IntervalSet({{{0}, {end}}, {{900}, {1000}}}), {}}; }

TEST(CheckInFlight, AStepWithoutAKnownRequestIsOfOthers) {
  for (const bool others : {false, true}) {
    TraceBuilder b;
    b.Host("user_annotation", "execute_context_1(8)_generation_0(0)",
           {.start = 10, .duration = 50});
    // vLLM runs this step when its last request has ended.
    b.Host("user_annotation", "execute_context_0(0)_generation_0(0)",
           {.start = 150, .duration = 5});
    if (others) {
      b.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
             {.start = 200, .duration = 50});
    }
    const Trace trace = std::move(b).Finish();
    EXPECT_EQ(CheckInFlight(trace, Until(100)), others ? Requests::kOthers : Requests::kKnown);
    EXPECT_EQ(CheckInFlight(trace, Until(201)), Requests::kKnown) << "it began in time";
    InFlight shared = Until(100);
    shared.shared = true;
    EXPECT_EQ(CheckInFlight(trace, shared), others ? Requests::kOthers : Requests::kShared);
  }
}

TEST(CheckInFlight, WithoutStepsTheGpusTell) {
  TraceBuilder b;
  b.Kernel("k", {.start = 0, .duration = 180});
  b.Kernel("k", {.start = 990, .duration = 10});
  const Trace trace = std::move(b).Finish();
  EXPECT_EQ(CheckInFlight(trace, Until(100)), Requests::kKnown) << "80 of 800 ns";
  EXPECT_EQ(CheckInFlight(trace, Until(90)), Requests::kOthers);
  EXPECT_EQ(CheckInFlight(std::move(TraceBuilder()).Finish(), Until(90)), Requests::kKnown);
}

}  // namespace
}  // namespace tacho
