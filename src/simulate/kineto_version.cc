#include "simulate/kineto_version.h"

#include "simulate/sglang/profiler.h"
#include "simulate/vllm/profiler.h"

namespace tacho::simulate {
namespace {

constexpr int kVllmMinor = 33, kSglangPatch = 22;

bool HasNewTorch(const WorkerOptions& options) {
  if (options.faults.Has(FaultKind::kNewTorch, options.index)) return true;
  if (options.kind == SimulatedEngine::kVllm) {
    const auto version = ParseVllmVersion(options.version);
    return version && version->minor >= kVllmMinor;
  }
  const auto version = ParseSglangVersion(options.version);
  return version && version->patch >= kSglangPatch;
}

}  // namespace

KinetoVersion KinetoOf(const WorkerOptions& options) {
  return HasNewTorch(options) ? KinetoVersion{2, 0, true} : KinetoVersion{};
}

}  // namespace tacho::simulate
