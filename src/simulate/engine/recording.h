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

// One step, stored as its load, from which PlanStep makes its events again.
struct RecordedStep {
  uint64_t index = 0;  // of the engine
  int64_t start_ns = 0;
  StepLoad load;
  std::optional<int64_t> profiler_step;  // of torch's schedule: ProfilerStep#N
  int64_t forward = 0;                   // the engine's own counter ("forward_id")
  bool finished = true;                  // false: the window closed while it ran
  bool after_idle = false;               // the engine was idle before it
};
// What a profiler of one engine recorded between its start and its stop, in Unix nanoseconds of the
// engine's clock.
struct Recording {
  int64_t start_ns = 0, end_ns = 0;
  std::vector<RecordedStep> steps;
  std::vector<StepPlan> plans = {};  // of the steps; empty: not kept, PlanStep makes them again
  bool ends_idle = false;            // the engine was idle at its end
  bool ends_in_request = false;      // SGLang: a request ended it, and was still being handled then
};

// How an engine names its steps in a trace.
enum class StepNames : uint8_t {
  kNone,             // vLLM until 0.11.0
  kNewCached,        // vLLM 0.11.2 to 0.13: execute_new_1_cached_3
  kContext,          // vLLM 0.14 and later: execute_context_1(32)_generation_3(3)
  kContextDetailed,  // and with detailed_trace_annotation
  kSglang,           // step[DECODE bs=3]
  kSglangDetailed,
};
std::string StepName(StepNames names, const RecordedStep& step);

// The process that a trace is of: a rank; vLLM's front end, which records only the profiler's span
// if stacks are off; or a process that has nothing to record, not even that span.
enum class TraceContent : uint8_t { kWorker, kFrontend, kNothing };

// The content of a trace file apart from the steps: one rank of one engine.
struct TraceSource {
  TraceContent content = TraceContent::kWorker;
  SimulatedEngine engine = SimulatedEngine::kVllm;
  std::string version;  // stamped into the file when `stamps_version`
  bool stamps_version = true;
  // Recorded by Kineto alone, without the additions of torch.profiler and the engine.
  bool on_demand = false;
  KinetoDialect dialect = KinetoDialect::kOneKeyALine;
  StepNames names = StepNames::kContext;
  bool scopes = false;                      // the engine's named ranges
  bool has_host = true, has_device = true;  // which activities are recorded
  bool with_stack = false, record_shapes = false, with_flops = false, profile_memory = false;

  CostModel cost;
  uint64_t seed = 1;
  int rank_in_step = 0;          // which of the step's ranks
  int rank = 0, world_size = 1;  // as in distributedInfo
  int device = 0, visible_devices = 1;
  int64_t pid = 0;
  std::string process_name, host_name;
  int64_t first_external_id = 1, first_correlation = 1;
  std::string trace_name;  // the path that the writer was given

  // The error of the machine's clock: a constant offset, and a drift in parts per million.
  int64_t clock_skew_ns = 0;
  double clock_drift_ppm = 0;
  int64_t clock_origin_ns = 0;  // where the drift begins
  RecorderLoss loss;

  int64_t OnClock(int64_t unix_ns) const {
    const auto since = static_cast<double>(unix_ns - clock_origin_ns);
    return unix_ns + clock_skew_ns + static_cast<int64_t>(since * clock_drift_ppm / 1e6);
  }
};

// The quarter-year (7,889,238 s) that Kineto counts from: floor(now / quarter) * quarter.
int64_t KinetoBaseNs(int64_t unix_ns);

}  // namespace tacho::simulate
