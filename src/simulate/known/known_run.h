#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/engine/recording.h"
#include "simulate/known/load_mix.h"

namespace tacho::simulate {

// A run of one engine that is known in full: planned at once, without servers and without waiting.
// Two of them with a change between them are the ground truth of a comparison:
//
//   KnownRunOptions base, changed;
//   changed.seed = 2;                                        // noise of its own
//   changed.changes = {*ParseChange("slower@attention:5%")};
//   const KnownRun a = *MakeKnownRun(base), b = *MakeKnownRun(changed);
//   const std::string json = KnownTrace(b, 0);               // of rank 0, as Kineto writes it
//   const std::vector<RankParts> parts = PartsOf(b);         // of its steps (known/step_parts.h)
//   const std::vector<RankParts> without = PartsOf(*WithoutChanges(changed));
//
// `parts` less `without` is what the change does: both have the same noise.
struct KnownRunOptions {
  SimulatedEngine engine = SimulatedEngine::kVllm;
  // Four wide layers: kernels as long as those of a large model, and few of them.
  std::string model = "8b", hardware = "h100";
  int64_t layers = 4;  // 0: the model's own
  // Tensor parallel, 1 to 64. A model's experts are parallel over the same ranks: with SGLang's
  // names tokens are sent to them and back (DeepEP), with vLLM's an all-reduce follows them.
  int64_t ranks = 1;
  double speed = 1;
  Noise noise = {.step = 0.01, .run = 0, .stalls = 0.01};
  LoadMix mix;
  int64_t steps = 300;     // 1 to 100,000
  uint64_t seed = 1;       // of the noise, and of the time of the run
  uint64_t load_seed = 1;  // of the requests: the same steps in all runs that share it
  std::vector<Change> changes;
};

struct KnownRun {
  KnownRunOptions options;
  Recording recording;               // with the plans of its steps
  std::vector<TraceSource> sources;  // by rank
};

// kUsage: an unknown model or hardware, a number outside of its bounds, a change to a rank that
// does not exist, or one to the experts of a dense model. Cost: some 20 us for each step and rank.
Result<KnownRun> MakeKnownRun(const KnownRunOptions& options);
// The run of `options` without their changes: with the same noise and, unless a change is to the
// load, the same load.
Result<KnownRun> WithoutChanges(KnownRunOptions options);

inline constexpr int64_t kAroundNs =
    300'000;  // profiled before the first step and after the last one

// The same piece by piece, for loads of another kind. BeginKnownRun makes a run without steps.
// AddKnownStep adds one step, which must not start before the step before it has ended. It returns
// the plan of the step, which is valid until the next call.
Result<KnownRun> BeginKnownRun(const KnownRunOptions& options);
const StepPlan& AddKnownStep(KnownRun& run, const StepLoad& load, int64_t start_ns,
                             bool after_idle);

// The trace of a rank, as its engine's profiler writes it with torch.
std::string KnownTrace(const KnownRun& run, int64_t rank);
// The file name of that trace in a folder of traces, and that of the run's export of Nsight Systems
// (trace/nsys_export.h).
std::string KnownTraceName(const KnownRun& run, int64_t rank);
std::string KnownExportName(const KnownRun& run);
bool IsKnownExportName(std::string_view name);  // of any run

}  // namespace tacho::simulate
