#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "simulate/engine/recording.h"

namespace tacho::simulate {

// How vLLM's profiling changed between versions.
enum class VllmGeneration : uint8_t {
  kEnvironment,  // until 0.12: VLLM_TORCH_PROFILER_DIR and similar variables
  kConfig,       // 0.13 to 0.31: --profiler-config; ignores the body of /start_profile
  kLive,         // 0.32: reads the body and refuses a second start
};
struct VllmVersion {
  std::string text;  // "0.32.0"
  int minor = 32;
  VllmGeneration generation = VllmGeneration::kLive;
  bool takes_kwargs() const { return minor >= 33; }  // profiler_kwargs in the start's body
};
// Parses "0.10", "0.13.0", "0.32" ...; kUsage for any other text.
Result<VllmVersion> ParseVllmVersion(std::string_view text);
StepNames StepNamesOf(const VllmVersion& version, bool detailed);

// The settings of --profiler-config, or of the older environment variables.
struct VllmProfilerConfig {
  std::string profiler;  // "torch", "cuda" or "proton"; "" for none
  std::string folder;
  bool with_stack = true, with_flops = false, record_shapes = false, with_memory = false;
  bool use_gzip = true, dump_table = true, ignore_frontend = false, detailed = false;
  int64_t delay_iterations = 0, max_iterations = 0;
  int64_t warmup_iterations = 0, wait_iterations = 0, active_iterations = 5;
};
// Reads the JSON of --profiler-config as `version` of vLLM does: an unknown key is an error
// (kUsage) with the message of `vllm serve`. vLLM up to 0.12 has environment variables instead; the
// keys then stand for them. "" means no profiler.
Result<VllmProfilerConfig> ParseProfilerConfig(std::string_view json, const VllmVersion& version);
// The configuration of one session: `kwargs`, a JSON object with arguments of
// torch.profiler.profile, overrides the server's own configuration. kUsage, in Python's words:
// torch refuses an argument; such a session records nothing.
Result<VllmProfilerConfig> WithKwargs(VllmProfilerConfig config, std::string_view kwargs);
// The configuration as /server_info shows it.
std::string ProfilerConfigJson(const VllmProfilerConfig& config);

// The logic of the profiler in vLLM's workers (vllm/profiler/wrapper.py), without side effects.
// Like the original, it is called at the start of each execute_model, before the step's annotation.
class VllmWorkerProfiler {
 public:
  VllmWorkerProfiler(const VllmProfilerConfig& config, const VllmVersion& version)
      : config_(config), resets_itself_(version.generation == VllmGeneration::kLive) {}

  // True if the recording begins now. Ignored while a session is open; until 0.31 also after the
  // session ended by itself.
  bool Start(std::optional<int64_t> delay, std::optional<int64_t> max);
  struct Order {
    bool flush = false;  // the recording is over and must be written before this step
    bool begin = false;  // the recording begins with this step
    std::optional<int64_t> profiler_step;
  };
  Order OnStep();
  // True if there is a recording that must be written.
  bool Stop();

  bool recording() const { return recording_; }
  bool active() const { return active_; }

 private:
  bool scheduled() const { return config_.warmup_iterations + config_.wait_iterations > 0; }

  VllmProfilerConfig config_;
  bool resets_itself_;
  bool active_ = false;     // between start and stop, from the worker's view
  bool recording_ = false;  // torch's profiler runs and records
  bool done_ = false;       // this session's recording has been written
  int64_t delay_ = 0, max_ = 0, seen_ = 0, recorded_ = 0;
};

}  // namespace tacho::simulate
