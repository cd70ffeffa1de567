#include "simulate/engine/step_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tacho::simulate {
namespace {

CostModel Cost(int tp, std::string_view model = "tiny") {
  return {*FindModelShape(model), *FindHardware("h100"), tp, 1};
}
StepLoad Decode(int64_t requests, int64_t length) {
  StepLoad load;
  for (int64_t i = 0; i < requests; ++i) load.generation.Add(1, length);
  load.sampled = requests;
  return load;
}
StepLoad Prefill(int64_t tokens) {
  StepLoad load;
  load.context.Add(tokens, tokens);
  load.sampled = 1;
  return load;
}

int64_t End(const DeviceSlice& slice) { return slice.start_ns + slice.dur_ns; }

TEST(PlanStep, IsTheSameForTheSameArguments) {
  const auto plan = [] { return PlanStep(SimulatedEngine::kVllm, Cost(2), Decode(8, 100), 7, 3); };
  const StepPlan a = plan(), b = plan();
  EXPECT_EQ(a.duration_ns, b.duration_ns);
  ASSERT_EQ(a.ranks[1].device.size(), b.ranks[1].device.size());
  for (size_t i = 0; i < a.ranks[1].device.size(); ++i) {
    EXPECT_EQ(a.ranks[1].device[i].start_ns, b.ranks[1].device[i].start_ns);
  }
  EXPECT_NE(PlanStep(SimulatedEngine::kVllm, Cost(2), Decode(8, 100), 7, 4).duration_ns,
            a.duration_ns);
}

TEST(PlanStep, DecodeIsOneGraphPrefillIsLaunchedOneByOne) {
  const auto graphs = [](const StepPlan& plan) {
    return std::ranges::count_if(plan.ranks[0].calls, [](const HostCall& call) {
      return std::string_view(call.call->name) == "cudaGraphLaunch";
    });
  };
  const auto in_graph = [](const StepPlan& plan) {
    return std::ranges::count_if(plan.ranks[0].device,
                                 [](const DeviceSlice& slice) { return slice.graph_node > 0; });
  };
  const StepPlan decode = PlanStep(SimulatedEngine::kVllm, Cost(1), Decode(8, 100), 1, 0);
  EXPECT_EQ(graphs(decode), 1);
  EXPECT_EQ(in_graph(decode), 4 * 10 + 2);
  const StepPlan prefill = PlanStep(SimulatedEngine::kVllm, Cost(1), Prefill(100), 1, 0);
  EXPECT_EQ(graphs(prefill), 0);
  EXPECT_EQ(in_graph(prefill), 0);
}

// Checks what every trace must satisfy, for both engines and any load.
TEST(PlanStep, WorkComesAfterItsLaunchAndAStreamDoesOneThingAtATime) {
  for (const SimulatedEngine engine : {SimulatedEngine::kVllm, SimulatedEngine::kSglang}) {
    for (const StepLoad& load : {Decode(1, 10), Decode(300, 2000), Decode(600, 50), Prefill(1),
                                 Prefill(8000), StepLoad{}}) {
      for (uint64_t step = 0; step < 5; ++step) {
        const StepPlan plan = PlanStep(engine, Cost(2), load, 11, step);
        ASSERT_EQ(plan.ranks.size(), 2U);
        for (const RankPlan& rank : plan.ranks) {
          int64_t compute_free = 0;
          for (const DeviceSlice& slice : rank.device) {
            EXPECT_GE(slice.start_ns, rank.calls[static_cast<size_t>(slice.call)].start_ns);
            EXPECT_LE(End(slice), rank.end_ns);
            EXPECT_GT(slice.dur_ns, 0);
            if (slice.stream != kComputeStream) continue;
            EXPECT_GE(slice.start_ns, compute_free);
            compute_free = End(slice);
          }
          for (const HostSlice& slice : rank.host) {
            EXPECT_GT(slice.dur_ns, 0);
            EXPECT_LE(slice.start_ns + slice.dur_ns, rank.end_ns);
          }
          for (const HostCall& call : rank.calls) EXPECT_GT(call.dur_ns, 0);
          EXPECT_LE(rank.end_ns, plan.duration_ns);
        }
      }
    }
  }
}

TEST(PlanStep, CollectiveEndsOnAllRanksAtTheSameTime) {
  const StepPlan plan = PlanStep(SimulatedEngine::kVllm, Cost(4), Decode(16, 500), 3, 9);
  int collectives = 0;
  for (size_t i = 0; i < plan.ranks[0].device.size(); ++i) {
    if (plan.ranks[0].device[i].role != KernelRole::kAllReduce) continue;
    ++collectives;
    for (const RankPlan& rank : plan.ranks) {
      EXPECT_EQ(End(rank.device[i]), End(plan.ranks[0].device[i]));
    }
  }
  EXPECT_EQ(collectives, 2 * 4);
}

// With the change "serial" all kernels last as long, and none run side by side.
TEST(PlanStep, TheSharedExpertRunsBesideTheOthers) {
  for (const SimulatedEngine engine : {SimulatedEngine::kVllm, SimulatedEngine::kSglang}) {
    for (const StepLoad& load : {Decode(16, 500), Prefill(2000)}) {
      CostModel cost = Cost(2, "14b-a3b");
      cost.sends_tokens = engine == SimulatedEngine::kSglang;
      const RankPlan beside = PlanStep(engine, cost, load, 5, 1).ranks[0];
      cost.changes = {*ParseChange("serial")};
      const RankPlan serial = PlanStep(engine, cost, load, 5, 1).ranks[0];
      ASSERT_EQ(beside.device.size(), serial.device.size());
      int64_t side_free = 0, compute_free = 0;
      for (size_t i = 0; i < beside.device.size(); ++i) {
        const DeviceSlice &own = beside.device[i], &other = serial.device[i];
        EXPECT_EQ(own.stream == kSideStream, IsOfSharedExpert(own.role));
        EXPECT_NE(other.stream, kSideStream);
        if (!IsCollective(own.role)) {
          EXPECT_EQ(own.dur_ns, other.dur_ns);
        }
        // What follows the experts waits for both streams, and the shared expert for the norm.
        if (own.stream == kSideStream || own.role == KernelRole::kNorm) {
          EXPECT_GE(own.start_ns, std::max(side_free, compute_free));
        }
        if (own.stream == kSideStream) side_free = End(own);
        if (own.stream == kComputeStream) compute_free = End(own);
      }
      EXPECT_LT(beside.end_ns, serial.end_ns);
    }
  }
}

TEST(PlanStep, MoreWorkTakesLonger) {
  const auto time = [](const CostModel& cost, const StepLoad& load) {
    return PlanStep(SimulatedEngine::kVllm, cost, load, 1, 0).duration_ns;
  };
  EXPECT_LT(time(Cost(1, "8b"), Prefill(500)), time(Cost(1, "8b"), Prefill(8000)));
  EXPECT_LT(time(Cost(1, "8b"), Decode(8, 100)), time(Cost(1, "8b"), Decode(256, 4000)));
  EXPECT_LT(time(Cost(1, "small"), Decode(8, 100)), time(Cost(1, "8b"), Decode(8, 100)));
  CostModel fast = Cost(1, "8b");
  fast.speed = 10;
  EXPECT_LT(time(fast, Decode(8, 100)) * 8, time(Cost(1, "8b"), Decode(8, 100)));
}

}  // namespace
}  // namespace tacho::simulate
