#include "analysis/requests/step_cells.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/analyze.h"
#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

constexpr const char* kDecodeOfTwo = "execute_context_0(0)_generation_2(2)";

std::shared_ptr<const TraceDigest> CellsDigest(const Trace& trace, const Scope& scope = {}) {
  return AnalyzeTrace(trace, BuiltInRules(), {.scope = scope, .digest = true}).digest;
}
int64_t Idle(const StepCell& cell, IdleCause cause) {
  return cell.idle[static_cast<size_t>(cause)].ns;
}

// A step whose kernel hides the first half of its communication; then a copy of the tokens.
void AddStepWithCopy(TraceBuilder& b, int64_t at, int64_t id) {
  b.Host("user_annotation", kDecodeOfTwo, {.start = at, .duration = 60});
  for (int64_t i = 0; i < 3; ++i) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = at + 10 * i, .duration = 5, .correlation = id + i});
  }
  b.Kernel("gemm", {.stream = "7", .start = at + 100, .duration = 100, .correlation = id});
  b.Kernel("ncclDevKernel_AllReduce",
           {.stream = "8", .start = at + 150, .duration = 100, .correlation = id + 1});
  b.Kernel("vllm::rms_norm_kernel",
           {.stream = "7", .start = at + 270, .duration = 30, .correlation = id + 2});
}

TEST(StepCells, WorkIsCutAtTheStartAndTheEndOfEachStep) {
  TraceBuilder b;
  for (int64_t i = 0; i < 3; ++i) AddStepWithCopy(b, 400 * i, 10 * i);
  const auto digest = CellsDigest(std::move(b).Finish());
  const StepCells& cells = digest->cells;
  ASSERT_EQ(cells.steps.size(), 3u);
  ASSERT_TRUE(cells.HasCells());
  EXPECT_EQ(cells.steps[1].work, (Interval{{500}, {700}}));
  EXPECT_TRUE(cells.steps[1].known);
  EXPECT_EQ(cells.TimeBefore(1), (Interval{{300}, {500}}));
  EXPECT_TRUE(cells.TimeBefore(0).empty());
  EXPECT_EQ(cells.Of(1).comm.ns, 50);  // half of it runs beside the gemm
  EXPECT_EQ(cells.Of(1).copy.ns, 0);
  DurationNs idle_of_work, idle_before;
  for (const DurationNs part : cells.Of(1).idle) idle_of_work += part;
  for (const DurationNs part : cells.Before(1).idle) idle_before += part;
  EXPECT_EQ(idle_of_work.ns, 20);
  EXPECT_EQ(idle_before.ns, 200);
  EXPECT_GT(Idle(cells.Before(1), IdleCause::kBetweenSteps), 0);
}

TEST(StepCells, AStepThatBeginsEarlyBelongsToTheStepBeforeUntilThatEnds) {
  TraceBuilder b;
  for (int64_t i = 0; i < 2; ++i) {
    b.Host("user_annotation", kDecodeOfTwo, {.start = 100 * i, .duration = 60});
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 100 * i, .duration = 5, .correlation = i + 1});
    b.Kernel("gemm", {.stream = i == 0 ? "7" : "8",
                      .start = 50 + 100 * i,
                      .duration = 150,
                      .correlation = i + 1});
  }
  const auto digest = CellsDigest(std::move(b).Finish());
  EXPECT_EQ(digest->cells.steps[0].work, (Interval{{50}, {200}}));
  EXPECT_EQ(digest->cells.steps[1].work, (Interval{{200}, {300}}));
}

TEST(StepCells, APartOfATraceHasNone) {
  TraceBuilder b;
  for (int64_t i = 0; i < 3; ++i) AddStepWithCopy(b, 400 * i, 10 * i);
  const Trace trace = std::move(b).Finish();
  EXPECT_TRUE(CellsDigest(trace, WindowScope(100, 600))->cells.steps.empty());
}

TEST(StepCells, OfSeveralDevicesOnlyTheTimesOfStepsAreKnown) {
  TraceBuilder b;
  for (int64_t i = 0; i < 2; ++i) AddStepWithCopy(b, 400 * i, 10 * i);
  b.Kernel("gemm", {.device = "1", .start = 700, .duration = 10});
  const auto digest = CellsDigest(std::move(b).Finish());
  EXPECT_EQ(digest->cells.steps.size(), 2u);
  EXPECT_FALSE(digest->cells.HasCells());
}

// Between the first work and the last one, what the cells hold is what the device did.
TEST(StepCells, AddUpToTheTimesOfTheDevice) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t most) { return static_cast<int64_t>(random() % most); };
    TraceBuilder b;
    int64_t at = 0;
    for (int64_t i = 0; i < 20; ++i) {
      b.Host("user_annotation", kDecodeOfTwo, {.start = at, .duration = 300 + below(300)});
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t launch = at + 20 + below(200);
        const int64_t start = launch + below(300);
        b.Host("cuda_runtime", "cudaLaunchKernel",
               {.start = launch, .duration = 5, .correlation = 3 * i + k});
        b.Kernel(k == 1 ? "ncclDevKernel_AllReduce" : "gemm",
                 {.stream = std::to_string(7 + below(3)),
                  .start = start,
                  .duration = 1 + below(400),
                  .correlation = 3 * i + k});
      }
      at += 650 + below(600);
    }
    const Trace trace = std::move(b).Finish();
    const TraceAnalysis analysis =
        AnalyzeTrace(trace, BuiltInRules(), {.scope = {}, .digest = true});
    const StepCells& cells = analysis.digest->cells;
    if (!cells.HasCells()) continue;
    DurationNs comm, idle, length;
    for (size_t i = 0; i < cells.steps.size(); ++i) {
      length += cells.steps[i].work.length() + cells.TimeBefore(i).length();
      for (const StepCell* cell : {&cells.Before(i), &cells.Of(i)}) {
        comm += cell->comm;
        for (const DurationNs part : cell->idle) idle += part;
      }
    }
    EXPECT_EQ(length, analysis.devices[0].window.length());
    EXPECT_EQ(comm, analysis.devices[0].exposed_comm);
    EXPECT_EQ(idle, analysis.devices[0].idle);
  }
}

}  // namespace
}  // namespace tacho
