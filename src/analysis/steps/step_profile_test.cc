#include "analysis/steps/step_profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "analysis/analyze.h"
#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using testing::ElementsAre;

constexpr const char* kDecode = "execute_context_0(0)_generation_2(2)";

TraceAnalysis Profiled(const Trace& trace, const Scope& scope = {}) {
  return AnalyzeTrace(trace, BuiltInRules(), {.scope = scope, .step_profile = true});
}

// A step with three kernels, one of which hides communication. The next step begins 400 ns later.
void AddStep(TraceBuilder& b, int64_t at, int64_t id) {
  b.Host("user_annotation", kDecode, {.start = at, .duration = 60});
  for (int64_t i = 0; i < 3; ++i) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = at + 10 * i, .duration = 5, .correlation = id + i});
  }
  b.Kernel("ampere_sgemm_a",
           {.stream = "7", .start = at + 100, .duration = 100, .correlation = id});
  b.Kernel("ncclDevKernel_AllReduce",
           {.stream = "8", .start = at + 150, .duration = 100, .correlation = id + 1});
  b.Kernel("vllm::rms_norm_kernel",
           {.stream = "7", .start = at + 180, .duration = 40, .correlation = id + 2});
}

TEST(ProfileSteps, GivesEachNanosecondToOnePart) {
  TraceBuilder b;
  for (int64_t i = 0; i < 3; ++i) AddStep(b, 400 * i, 10 * i);
  const TraceAnalysis t = Profiled(std::move(b).Finish());
  const StepProfile& profile = t.step_profile;
  // The norm starts while the gemm runs, so only its rest counts.
  ASSERT_THAT(profile.parts, ElementsAre("comm.collective", "gemm.dense", "idle.between-steps",
                                         "idle.in-launch-call", "idle.launch-latency", "norm"));
  ASSERT_EQ(profile.rows.size(), 2u);
  EXPECT_EQ(profile.rows[0].when, (Interval{{100}, {500}}));
  EXPECT_EQ(profile.rows[1].step, 1u);
  EXPECT_THAT(profile.rows[0].ns, ElementsAre(DurationNs{30}, DurationNs{100}, DurationNs{150},
                                              DurationNs{5}, DurationNs{95}, DurationNs{20}));
  ASSERT_EQ(profile.batches.size(), 1u);
  EXPECT_EQ(profile.batches[0].batch, (StepBatch{Phase::kDecode, 2}));
  EXPECT_EQ(profile.batches[0].steps, 2u);
  ASSERT_EQ(profile.batches[0].kernels.size(), 3u);
  for (const StepProfile::KernelUse& use : profile.batches[0].kernels) {
    EXPECT_EQ(use.calls, 2u);
    EXPECT_EQ(use.deviation, DurationNs{});
    const std::string& name = t.kernels.rows[use.kernel].name;
    if (name == "vllm::rms_norm_kernel") {
      EXPECT_DOUBLE_EQ(use.place, 0.2);
    }
    EXPECT_EQ(use.total, (DurationNs{name == "vllm::rms_norm_kernel" ? 80 : 200}));
  }
}

TEST(ProfileSteps, APauseEndsAStepAndTheLastOneHasNoRow) {
  TraceBuilder b;
  for (const int64_t at : {0, 400, 800, 9000, 9400}) AddStep(b, at, at);
  const StepProfile profile = Profiled(std::move(b).Finish()).step_profile;
  ASSERT_EQ(profile.rows.size(), 4u);
  EXPECT_EQ(profile.rows[1].when.length(), DurationNs{400});
  EXPECT_EQ(profile.rows[2].when.length(), DurationNs{150});  // ends with its own last work
  EXPECT_EQ(profile.rows[3].when, (Interval{{9100}, {9500}}));
}

// All work of step 10 is lost, so it is unknown when it began and when the step before it ended.
TEST(ProfileSteps, AStepBeforeOneThatLostItsWorkHasNoRow) {
  TraceBuilder b;
  for (int64_t i = 0; i < 150; ++i) {
    if (i != 10) {
      AddStep(b, 400 * i, 10 * i);
      continue;
    }
    b.Host("user_annotation", kDecode, {.start = 400 * i, .duration = 60});
    for (int64_t k = 0; k < 3; ++k) {
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.start = 400 * i + 10 * k, .duration = 5, .correlation = 10 * i + k});
    }
  }
  const StepProfile profile = Profiled(std::move(b).Finish()).step_profile;
  ASSERT_EQ(profile.rows.size(), 147u);
  for (const StepProfile::Row& row : profile.rows) {
    EXPECT_EQ(row.when.length(), DurationNs{400});
    EXPECT_TRUE(row.step != 9 && row.step != 10);
  }
}

TEST(ProfileSteps, WithoutStepsThereIsNothing) {
  TraceBuilder b;
  b.Kernel("k", {.start = 0, .duration = 5});
  const StepProfile profile = Profiled(std::move(b).Finish()).step_profile;
  EXPECT_TRUE(profile.rows.empty());
  EXPECT_TRUE(profile.parts.empty());
}

TEST(ProfileSteps, OfACpuEngineTheAnnotationsAreTheSteps) {
  TraceBuilder b;
  for (int64_t i = 0; i < 3; ++i) {
    b.Host("user_annotation", kDecode, {.start = 1000 * i, .duration = 900});
    b.Host("cpu_op", "aten::mm", {.start = 1000 * i + 100, .duration = 300});
  }
  const StepProfile profile = Profiled(std::move(b).Finish()).step_profile;
  ASSERT_EQ(profile.rows.size(), 2u);
  EXPECT_EQ(profile.rows[0].when, (Interval{{0}, {1000}}));
  // The time before the first operator counts too.
  EXPECT_THAT(profile.parts, ElementsAre("gemm.dense", "idle.between-steps", "idle.host"));
  EXPECT_THAT(profile.rows[0].ns, ElementsAre(DurationNs{300}, DurationNs{100}, DurationNs{600}));
}

struct RandomPiece {
  int64_t start, end;
  std::string name;
};

// A second implementation that looks at each nanosecond of each row.
TEST(ProfileSteps, PartsAddUpAndABruteForceAgrees) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    const std::string names[] = {
        "ampere_sgemm_a", "ncclDevKernel_AllReduce", "vllm::rms_norm_kernel", "mystery", "copy",
        "memset"};
    TraceBuilder b;
    std::vector<RandomPiece> pieces;
    int64_t id = 1;
    for (int64_t at = 0, step = 0; step < 8; ++step) {
      const int64_t host = 5 + below(30);
      b.Host("user_annotation", below(2) == 0 ? kDecode : "execute_context_1(9)_generation_0(0)",
             {.start = at, .duration = host});
      for (int64_t n = below(6); n > 0; --n, ++id) {
        const std::string& name = names[below(6)];
        const int64_t start = at + 3 + below(90), duration = below(30);
        b.Host("cuda_runtime", "cudaLaunchKernel",
               {.start = at + below(host), .duration = below(3), .correlation = id});
        const std::string stream = std::to_string(below(3));
        const TraceBuilder::OnGpu on{
            .stream = stream, .start = start, .duration = duration, .correlation = id};
        if (name == "copy")
          b.Memcpy("Memcpy DtoD", on);
        else if (name == "memset")
          b.Memset("Memset", on);
        else
          b.Kernel(name, on);
        pieces.push_back({start, start + duration, name});
      }
      at += host + below(60);
    }
    const Trace trace = std::move(b).Finish();
    const PreparedTrace prepared = Prepare(trace, BuiltInRules());
    std::vector<IdleStretch> idle;
    AttributeIdle(prepared.index, prepared.work, prepared.links, {}, nullptr, 5,
                  [&](const IdleStretch& stretch) { idle.push_back(stretch); });
    const KernelTable kernels = TabulateKernels(trace, prepared.work, BuiltInRules());
    const StepProfile profile = ProfileSteps(prepared, idle, kernels);
    std::ranges::stable_sort(pieces, {},
                             [](const RandomPiece& p) { return std::pair(p.start, p.end); });
    const std::vector<std::string> part_names = {
        "gemm.dense", "comm.collective", "norm", "unclassified", "copy", "memset"};
    const auto part_at = [&](int64_t t) -> std::string {
      const RandomPiece* best = nullptr;
      int best_rank = 3;
      for (const RandomPiece& p : pieces) {
        if (t < p.start || t >= p.end) continue;
        const int rank = p.name.starts_with("nccl") ? 1 : p.name == "copy" ? 2 : 0;
        if (rank < best_rank) best = &p, best_rank = rank;
      }
      if (best != nullptr)
        return part_names[static_cast<size_t>(std::ranges::find(names, best->name) - names)];
      for (const IdleStretch& stretch : idle) {
        if (stretch.when.contains({t})) return "idle." + std::string(IdleCauseId(stretch.cause));
      }
      return "nothing";
    };
    uint64_t rows = 0;
    for (const StepProfile::Row& row : profile.rows) {
      DurationNs sum;
      for (const DurationNs part : row.ns) sum += part;
      EXPECT_EQ(sum, row.when.length()) << seed;
      std::map<std::string, int64_t> brute;
      for (int64_t t = row.when.start.ns; t < row.when.end.ns; ++t) ++brute[part_at(t)];
      for (size_t part = 0; part < profile.parts.size(); ++part)
        EXPECT_EQ(row.ns[part].ns, brute[profile.parts[part]]) << seed << profile.parts[part];
    }
    for (const StepProfile::Batch& batch : profile.batches) rows += batch.steps;
    EXPECT_EQ(rows, profile.rows.size());
  }
}

}  // namespace
}  // namespace tacho
