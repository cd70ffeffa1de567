#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/engine/cost_model.h"
#include "simulate/engine/step_load.h"
#include "simulate/engine/step_plan.h"
#include "simulate/trace/kineto_text.h"
#include "simulate/trace/recorder_loss.h"

namespace tacho::simulate {

// One recorded step. It holds the step's load, from which PlanStep makes the events again.
struct RecordedStep {
  uint64_t index = 0;  // the engine's number of this step
  int64_t start_ns = 0;
  StepLoad load;
  std::optional<int64_t> profiler_step;  // N of ProfilerStep#N in torch's schedule
  int64_t forward = 0;                   // the engine's own count of forward passes ("forward_id")
  bool finished = true;                  // false: the step was still running when the window closed
  bool after_idle = false;               // the engine was idle before this step
};
// What a profiler of one engine recorded between its start and its stop. Times are Unix nanoseconds
// of the engine's clock.
struct Recording {
  int64_t start_ns = 0, end_ns = 0;
  std::vector<RecordedStep> steps;
  // The plans of the steps. Empty: they were not kept, and PlanStep makes them again.
  std::vector<StepPlan> plans = {};
  bool ends_idle = false;  // the engine was idle when the recording ended
  // SGLang: a request ended the recording and was still being handled at that moment.
  bool ends_in_request = false;
};

// How an engine names its steps in a trace.
enum class StepNames : uint8_t {
  kNone,             // vLLM until 0.11.0
  kNewCached,        // vLLM 0.11.2 to 0.13: execute_new_1_cached_3
  kContext,          // vLLM 0.14 and later: execute_context_1(32)_generation_3(3)
  kContextDetailed,  // like kContext, with detailed_trace_annotation
  kSglang,           // step[DECODE bs=3]
  kSglangDetailed,
};
std::string StepName(StepNames names, const RecordedStep& step);

// Which process wrote a trace: a rank (kWorker); vLLM's front end, which without stacks records
// only the profiler's span; or a process with nothing to record, not even that span.
enum class TraceContent : uint8_t { kWorker, kFrontend, kNothing };

// What a trace file holds apart from the steps of its rank and engine.
struct TraceSource {
  TraceContent content = TraceContent::kWorker;
  SimulatedEngine engine = SimulatedEngine::kVllm;
  std::string version;  // written into the file if `stamps_version`
  bool stamps_version = true;
  // Kineto alone recorded it, so what torch.profiler and the engine add is missing.
  bool on_demand = false;
  KinetoDialect dialect = KinetoDialect::kOneKeyALine;
  StepNames names = StepNames::kContext;
  bool scopes = false;                      // writes the engine's named ranges
  bool has_host = true, has_device = true;  // which kinds of activity are recorded
  bool with_stack = false, record_shapes = false, with_flops = false, profile_memory = false;

  CostModel cost;
  uint64_t seed = 1;
  int rank_in_step = 0;          // the rank's index in the step's plan
  int rank = 0, world_size = 1;  // as written in distributedInfo
  int device = 0, visible_devices = 1;
  int64_t pid = 0;
  std::string process_name, host_name;
  int64_t first_external_id = 1, first_correlation = 1;
  std::string trace_name;  // the path that the trace's writer was given

  // The error of the machine's clock: a constant offset, and a drift in parts per million.
  int64_t clock_skew_ns = 0;
  double clock_drift_ppm = 0;
  int64_t clock_origin_ns = 0;  // the moment at which the drift begins
  RecorderLoss loss;

  int64_t OnClock(int64_t unix_ns) const {
    const auto since = static_cast<double>(unix_ns - clock_origin_ns);
    return unix_ns + clock_skew_ns + static_cast<int64_t>(since * clock_drift_ppm / 1e6);
  }
};

// The start of the quarter-year (7,889,238 s) from which Kineto counts: floor(now / quarter) *
// quarter.
int64_t KinetoBaseNs(int64_t unix_ns);

}  // namespace tacho::simulate
