#include "simulate/trace/python_frames.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho::simulate {
namespace {

struct StepFrames {
  const char* turn;     // one round of the engine's loop
  const char* execute;  // the frame around the step's annotation
  const char* model;    // the frame inside `execute`
};

StepFrames StepFramesOf(SimulatedEngine engine) {
  if (engine == SimulatedEngine::kVllm) {
    return {"vllm/v1/executor/multiproc_executor.py(1055): _execute_worker_rpc",
            "vllm/v1/worker/gpu_worker.py(1300): execute_model",
            "vllm/v1/worker/gpu_model_runner.py(3939): execute_model"};
  }
  return {"sglang/srt/managers/scheduler.py(1187): event_loop_overlap",
          "sglang/srt/managers/scheduler.py(2304): run_batch",
          "sglang/srt/model_executor/model_runner.py(2377): forward"};
}

// The Python frame that calls operator `op`: "<built-in method mm of type object at 0x7f38...>" for
// "aten::mm".
std::string FrameOf(std::string_view op, size_t index) {
  const size_t colons = op.rfind("::");
  const std::string_view name = colons == std::string_view::npos ? op : op.substr(colons + 2);
  return fmt::format("<built-in method {} of type object at 0x7f3884{:06x}>", name,
                     (index % 170) * 0x1f50);
}

// The frame of the engine's own code around that of operator `op`; "" if the model calls the
// operator itself, as it does PyTorch's, but for matrix products.
std::string EngineFrameOf(SimulatedEngine engine, std::string_view op) {
  const bool vllm = engine == SimulatedEngine::kVllm;
  if (op == "aten::mm") {
    return vllm ? "vllm/model_executor/layers/linear.py(234): apply"
                : "sglang/srt/layers/quantization/unquant.py(131): apply";
  }
  if (op.starts_with("aten::")) return "";
  const std::string_view name = op.substr(op.rfind(':') + 1);
  return fmt::format("{}({}): {}", vllm ? "vllm/_custom_ops.py" : "sglang/srt/custom_ops.py",
                     100 + 7 * name.size(), name);
}

}  // namespace

const std::vector<std::string>& RootFrames(SimulatedEngine engine) {
  static const std::vector<std::string> vllm = {
      "<string>(1): <module>",
      "multiprocessing/spawn.py(122): spawn_main",
      "multiprocessing/spawn.py(135): _main",
      "multiprocessing/process.py(314): _bootstrap",
      "multiprocessing/process.py(108): run",
      "vllm/v1/executor/multiproc_executor.py(944): worker_main",
      "vllm/v1/executor/multiproc_executor.py(1041): worker_busy_loop"};
  static const std::vector<std::string> sglang = {
      "<string>(1): <module>",
      "multiprocessing/spawn.py(122): spawn_main",
      "multiprocessing/spawn.py(135): _main",
      "multiprocessing/process.py(314): _bootstrap",
      "multiprocessing/process.py(108): run",
      "sglang/srt/managers/scheduler.py(3405): run_scheduler_process"};
  return engine == SimulatedEngine::kVllm ? vllm : sglang;
}

std::vector<PythonFrame> FramesOf(SimulatedEngine engine, const TracedStep& step) {
  std::vector<PythonFrame> frames;
  const auto add = [&](std::string name, int64_t start, int64_t end, int parent) {
    frames.push_back({std::move(name), step.origin_ns + start, end - start, parent});
    return static_cast<int>(frames.size() - 1);
  };
  const StepFrames names = StepFramesOf(engine);
  const bool shows = std::ranges::any_of(step.external_ids, [](int64_t id) { return id != 0; });
  if (!shows || step.plan.host.empty()) return frames;
  const int turn = add(names.turn, step.plan.host.front().start_ns, step.plan.end_ns, -1);
  int inner = turn;
  int64_t inner_end = 0;
  for (size_t i = 0; i < step.plan.host.size(); ++i) {
    const HostSlice& slice = step.plan.host[i];
    if (step.external_ids[i] == 0) continue;
    const int64_t end = slice.start_ns + slice.dur_ns;
    if (slice.start_ns >= inner_end) inner = turn;
    if (slice.kind == HostSlice::Kind::kStep) {
      const int execute = add(names.execute, slice.start_ns, end, turn);
      inner = add(names.model, slice.start_ns, end, execute);
      inner_end = end;
    } else if (slice.kind == HostSlice::Kind::kOp) {
      // The frame of a C call begins a little before its operator and ends a little after it.
      const int64_t margin = std::min<int64_t>(slice.dur_ns / 64, 60);
      const std::string own = EngineFrameOf(engine, slice.name);
      const int around =
          own.empty() ? inner : add(own, slice.start_ns - margin, end + margin, inner);
      add(FrameOf(slice.name, i), slice.start_ns - margin, end + margin, around);
    }
  }
  return frames;
}

}  // namespace tacho::simulate
