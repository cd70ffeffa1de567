#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "simulate/api_error.h"
#include "simulate/engine/step_load.h"

namespace tacho::simulate {

// What differs between versions of SGLang.
struct SglangVersion {
  std::string text;  // "0.5.23"
  int patch = 23;
  // Whether num_steps=N records N steps; older versions record N-1.
  bool counts_right() const { return patch >= 16; }
  bool honours_profile_id() const { return patch >= 15; }
};
Result<SglangVersion> ParseSglangVersion(std::string_view text);

// What the body of SGLang's /start_profile may hold.
struct SglangProfileRequest {
  std::optional<std::string> output_dir = {};
  std::optional<int64_t> start_step = {}, num_steps = {};
  std::optional<std::vector<std::string>> activities = {};
  bool by_stage = false;
  std::optional<bool> with_stack = {}, record_shapes = {};
  std::optional<std::string> profile_id = {};
  bool merge = false;
  std::string prefix = {};
  bool detailed = false;
};
std::variant<SglangProfileRequest, ApiError> ReadSglangProfileRequest(std::string_view body);

// The logic of SGLang's SchedulerProfilerManager (profiler V1), without side effects. Like the
// original, it is called in run_batch, before each forward pass.
class SglangProfiler {
 public:
  explicit SglangProfiler(const SglangVersion& version) : version_(version) {}

  struct Order {
    enum class Kind : uint8_t {
      kBegin,  // a recording begins; one that is running is lost
      kWrite,  // the recording ends and is written to its file
      kDie,    // an exception in the scheduler ends the server
    };
    Kind kind;
    std::string_view stage;  // "EXTEND" or "DECODE"; "" if the session has no stages
  };
  struct Reply {
    bool good = true;  // false: answer with 500
    std::vector<Order> orders;
  };
  // `forward`: the number of forward passes so far.
  Reply Start(const SglangProfileRequest& request, int64_t forward);
  Reply Stop();
  void Cancel() { start_forward_.reset(); }  // drops a session that waits for its first step
  // `forward`: the number of forward passes, including the one about to begin.
  std::vector<Order> OnBatch(const StepLoad& load, int64_t forward);

  // The last start request that was accepted. It gives the names and contents of the session's
  // files.
  const SglangProfileRequest& session() const { return session_; }
  bool in_progress() const { return in_progress_; }
  // Whether a session runs or waits for its first step.
  bool busy() const { return in_progress_ || start_forward_.has_value(); }

 private:
  bool Configure(const SglangProfileRequest& request, int64_t forward);
  void Begin(std::string_view stage, std::vector<Order>& orders);
  void Write(std::string_view stage, std::vector<Order>& orders);
  void OnStagedBatch(const StepLoad& load, std::vector<Order>& orders);

  SglangVersion version_;
  SglangProfileRequest session_;
  bool in_progress_ = false, recording_ = false;
  std::optional<int64_t> start_forward_, target_forward_;
  std::optional<int64_t> prefills_, decodes_, target_prefills_, target_decodes_;
};

}  // namespace tacho::simulate
