#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/engine/recording.h"
#include "simulate/known/load_mix.h"

namespace tacho::simulate {

// The options of a simulated run of one engine whose truth is known in full. The run is planned at
// once, without servers and without waiting. Two runs that differ by a change give a comparison
// with a known result:
//
//  KnownRunOptions base, changed;
//  changed.seed = 2;                                        // noise of its own
//  changed.changes = {*ParseChange("slower@attention:5%")};
//  const KnownRun a = *MakeKnownRun(base), b = *MakeKnownRun(changed);
//  const std::string json = KnownTrace(b, 0);               // rank 0, as Kineto writes it
//  const std::vector<RankParts> parts = PartsOf(b);         // of its steps (known/step_parts.h)
//  const std::vector<RankParts> without = PartsOf(*WithoutChanges(changed));
//
// `parts` minus `without` is the effect of the change, because both have the same noise.
struct KnownRunOptions {
  SimulatedEngine engine = SimulatedEngine::kVllm;
  // With four wide layers, the kernels are as long as those of a large model, but few.
  std::string model = "8b", hardware = "h100";
  int64_t layers = 4;  // 0: as many as the model has
  // Tensor parallel ranks, 1 to 64. A model's experts are spread over the same ranks. If `engine`
  // is SGLang, it sends tokens to the experts and back (DeepEP). If it is vLLM, it runs an
  // all-reduce after the experts.
  int64_t ranks = 1;
  bool detailed = false;  // annotations say the lengths of requests
  bool with_stack = false;
  double speed = 1;
  Noise noise = {.step = 0.01, .run = 0, .stalls = 0.01};
  LoadMix mix;
  // Speculative decoding: tokens that a draft model proposes for each request of a decode step; 0:
  // none. One in four decode steps stays plain, so that both kinds can be compared.
  int64_t proposed = 0;
  int64_t steps = 300;     // 1 to 100,000
  uint64_t seed = 1;       // for the noise and for the time at which the run takes place
  uint64_t load_seed = 1;  // for the requests: runs with the same one have the same steps
  std::vector<Change> changes;
  std::vector<int64_t> graph_sizes = {};  // CostModel::graph_sizes
};

struct KnownRun {
  KnownRunOptions options;
  Recording recording;               // includes the plans of its steps
  std::vector<TraceSource> sources;  // by rank
};

// kUsage: an unknown model or hardware, a number out of bounds, a change to a rank that does not
// exist or to the experts of a dense model. Cost: some 20 us per step and rank.
Result<KnownRun> MakeKnownRun(const KnownRunOptions& options);
// The run of `options` without their changes. It has the same noise and, unless a change affects
// the load, the same load.
Result<KnownRun> WithoutChanges(KnownRunOptions options);

// How long the profiler records before the first step and after the last one.
inline constexpr int64_t kAroundNs = 300'000;

// These make a run step by step, for loads that LoadMix cannot describe. BeginKnownRun makes a run
// without steps. AddKnownStep adds one step, which must not start before the last one has ended; it
// returns the step's plan, which is valid until the next call.
Result<KnownRun> BeginKnownRun(const KnownRunOptions& options);
const StepPlan& AddKnownStep(KnownRun& run, const StepLoad& load, int64_t start_ns,
                             bool after_idle);

// A rank's trace, as the engine's profiler writes it with torch.
std::string KnownTrace(const KnownRun& run, int64_t rank);
// File names: KnownTraceName for a rank's trace in a folder of traces, KnownExportName for the
// run's export from Nsight Systems (trace/nsys_export.h).
std::string KnownTraceName(const KnownRun& run, int64_t rank);
std::string KnownExportName(const KnownRun& run);
bool IsKnownExportName(std::string_view name);  // true for the export name of any run

}  // namespace tacho::simulate
