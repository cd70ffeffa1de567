#include "simulate/vllm/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/parse_json.h"
#include "base/parse_number.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

// A key of --profiler-config. `since` is the first minor version of vLLM 0.x that has the key.
// `variable_since` is the first that has an environment variable for it; 0 if none has.
struct KnownKey {
  std::string_view name;
  int since;
  int variable_since;
};
constexpr KnownKey kKeys[] = {
    {"profiler", 13, 1},
    {"torch_profiler_dir", 13, 1},
    {"torch_profiler_with_stack", 13, 11},
    {"torch_profiler_with_flops", 13, 11},
    {"torch_profiler_record_shapes", 13, 11},
    {"torch_profiler_with_memory", 13, 11},
    {"torch_profiler_use_gzip", 13, 12},
    {"torch_profiler_dump_cuda_time_total", 13, 12},
    {"ignore_frontend", 13, 12},
    {"delay_iterations", 13, 12},
    {"max_iterations", 13, 12},
    {"warmup_iterations", 18, 0},
    {"wait_iterations", 18, 0},
    {"active_iterations", 18, 0},
    {"capture_torch_profiler", 26, 0},
    {"detailed_trace_annotation", 26, 0},
    {"torch_profiler_activities", 32, 0},
    {"proton_profiler_dir", 32, 0},
    {"proton_context", 32, 0},
    {"proton_data", 32, 0},
    {"proton_backend", 32, 0},
    {"proton_mode", 32, 0},
    {"proton_hook", 32, 0},
    {"proton_output_format", 32, 0},
    {"proton_graph_attribution", 32, 0},
};

tl::unexpected<Error> ConfigError(const std::string& key, const std::string& problem) {
  return Fail(ErrorKind::kUsage,
              fmt::format("vllm serve: error: argument --profiler-config: 1 validation error for "
                          "ProfilerConfig\n{}\n  {}",
                          key, problem));
}

bool Knows(std::string_view key, const VllmVersion& version) {
  for (const KnownKey& known : kKeys) {
    if (known.name != key) continue;
    if (version.generation != VllmGeneration::kEnvironment) return version.minor >= known.since;
    return known.variable_since > 0 && version.minor >= known.variable_since;
  }
  return false;
}

}  // namespace

Result<VllmVersion> ParseVllmVersion(std::string_view text) {
  const auto bad = [&] {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' is not a version of vLLM; write 0.10, 0.13, 0.32 or 0.33", text));
  };
  if (!text.starts_with("0.")) return bad();
  VllmVersion version;
  std::string_view rest = text.substr(2);
  const auto minor = TakeNumber<decltype(version.minor)>(rest);
  if (!minor || !(rest.empty() || rest[0] == '.')) return bad();
  version.minor = *minor;
  version.text = rest.empty() ? fmt::format("0.{}.0", version.minor) : std::string(text);
  version.generation = version.minor < 13   ? VllmGeneration::kEnvironment
                       : version.minor < 32 ? VllmGeneration::kConfig
                                            : VllmGeneration::kLive;
  return version;
}

StepNames StepNamesOf(const VllmVersion& version, bool detailed) {
  if (version.minor <= 10) return StepNames::kNone;
  if (version.minor <= 13) return StepNames::kNewCached;
  return detailed ? StepNames::kContextDetailed : StepNames::kContext;
}

Result<VllmProfilerConfig> ParseProfilerConfig(std::string_view json, const VllmVersion& version) {
  VllmProfilerConfig config;
  // The default was false only in 0.18.
  config.with_stack = version.minor != 18;
  if (json.empty()) return config;
  const Json parsed = ParseJson(json);
  if (!parsed.is_object()) return ConfigError("profiler_config", "Input should be valid JSON");
  for (const auto& [key, value] : parsed.items()) {
    if (!Knows(key, version) && version.generation == VllmGeneration::kEnvironment) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("vLLM {} has no environment variable for {}", version.text, key));
    }
    if (!Knows(key, version)) {
      return ConfigError(key,
                         "Unexpected keyword argument [type=unexpected_keyword_argument, "
                         "input_value=" +
                             value.dump() + "]");
    }
  }
  const auto flag = [&](const char* key, bool& to) {
    const auto found = parsed.find(key);
    if (found != parsed.end() && found->is_boolean()) to = found->get<bool>();
  };
  const auto count = [&](const char* key, int64_t& to) {
    const auto found = parsed.find(key);
    if (found != parsed.end() && found->is_number_integer()) to = found->get<int64_t>();
  };
  const auto text = [&](const char* key, std::string& to) {
    const auto found = parsed.find(key);
    if (found != parsed.end() && found->is_string()) to = found->get<std::string>();
  };
  text("profiler", config.profiler);
  text("torch_profiler_dir", config.folder);
  flag("torch_profiler_with_stack", config.with_stack);
  flag("torch_profiler_with_flops", config.with_flops);
  flag("torch_profiler_record_shapes", config.record_shapes);
  flag("torch_profiler_with_memory", config.with_memory);
  flag("torch_profiler_use_gzip", config.use_gzip);
  flag("torch_profiler_dump_cuda_time_total", config.dump_table);
  flag("ignore_frontend", config.ignore_frontend);
  flag("detailed_trace_annotation", config.detailed);
  count("delay_iterations", config.delay_iterations);
  count("max_iterations", config.max_iterations);
  count("warmup_iterations", config.warmup_iterations);
  count("wait_iterations", config.wait_iterations);
  count("active_iterations", config.active_iterations);
  if (config.profiler != "" && config.profiler != "torch" && config.profiler != "cuda" &&
      config.profiler != "proton") {
    return ConfigError("profiler", "Input should be 'torch', 'cuda' or 'proton'");
  }
  if (config.profiler == "torch" && config.folder.empty()) {
    return ConfigError("torch_profiler_dir",
                       "torch_profiler_dir must be set when profiler is 'torch'");
  }
  // Like expanduser and abspath in vLLM.
  const char* const home = std::getenv("HOME");
  if (home != nullptr && config.folder.starts_with("~/")) config.folder.replace(0, 1, home);
  if (!config.folder.empty() && config.folder.find("://") == std::string::npos)
    config.folder = std::filesystem::absolute(config.folder).lexically_normal().string();
  return config;
}

Result<VllmProfilerConfig> WithKwargs(VllmProfilerConfig config, std::string_view kwargs) {
  if (kwargs.empty() || config.profiler != "torch") return config;
  bool with_modules = false;
  const std::pair<std::string_view, bool*> known[] = {{"with_stack", &config.with_stack},
                                                      {"record_shapes", &config.record_shapes},
                                                      {"profile_memory", &config.with_memory},
                                                      {"with_flops", &config.with_flops},
                                                      {"with_modules", &with_modules}};
  const Json parsed = Json::parse(kwargs);
  for (const auto& [name, value] : parsed.items()) {
    const auto found =
        std::ranges::find(known, std::string_view(name), [](const auto& one) { return one.first; });
    // torch also refuses some arguments that it has: activities given as texts, schedule,
    // experimental_config.
    if (found == std::end(known))
      return Fail(ErrorKind::kUsage,
                  fmt::format("profile.__init__() got an unexpected keyword argument '{}'", name));
    if (!value.is_boolean())
      return Fail(ErrorKind::kUsage,
                  "__init__(): incompatible constructor arguments. The following argument types "
                  "are supported:");
    *found->second = value.get<bool>();
  }
  return config;
}

std::string ProfilerConfigJson(const VllmProfilerConfig& c) {
  const Json json = {
      {"profiler", c.profiler.empty() ? Json() : Json(c.profiler)},
      {"torch_profiler_dir", c.folder},
      {"torch_profiler_with_stack", c.with_stack},
      {"torch_profiler_with_flops", c.with_flops},
      {"torch_profiler_record_shapes", c.record_shapes},
      {"torch_profiler_with_memory", c.with_memory},
      {"torch_profiler_use_gzip", c.use_gzip},
      {"torch_profiler_dump_cuda_time_total", c.dump_table},
      {"torch_profiler_activities", Json()},
      {"ignore_frontend", c.ignore_frontend},
      {"delay_iterations", c.delay_iterations},
      {"max_iterations", c.max_iterations},
      {"warmup_iterations", c.warmup_iterations},
      {"wait_iterations", c.wait_iterations},
      {"active_iterations", c.active_iterations},
      {"capture_torch_profiler", false},
      {"detailed_trace_annotation", c.detailed},
      {"proton_profiler_dir", ""},
      {"proton_context", "shadow"},
      {"proton_data", "tree"},
      {"proton_backend", Json()},
      {"proton_mode", Json()},
      {"proton_hook", Json()},
      {"proton_output_format", Json()},
      {"proton_graph_attribution", false},
  };
  return json.dump();
}

bool VllmWorkerProfiler::Start(std::optional<int64_t> delay, std::optional<int64_t> max) {
  if (active_) return false;
  active_ = true;
  done_ = false;
  seen_ = recorded_ = 0;
  delay_ = delay.value_or(config_.delay_iterations);
  max_ = max.value_or(config_.max_iterations);
  recording_ = delay_ == 0 && !scheduled();
  return recording_;
}

VllmWorkerProfiler::Order VllmWorkerProfiler::OnStep() {
  Order order;
  if (!active_ || done_) return order;
  ++seen_;
  if (!recording_) {
    // torch's start() already takes the first step of the schedule. So only wait + warmup - 1 steps
    // pass before the recording begins.
    const int64_t before =
        scheduled() ? config_.wait_iterations + config_.warmup_iterations : delay_;
    if (seen_ < before) return order;
    recording_ = order.begin = true;
  }
  ++recorded_;
  const int64_t limit = scheduled() ? config_.active_iterations : max_;
  if (limit > 0 && recorded_ > limit) {
    recording_ = false;
    done_ = true;
    order.begin = false;
    order.flush = true;
    if (resets_itself_ && !scheduled()) active_ = false;
    return order;
  }
  if (scheduled()) order.profiler_step = seen_;
  return order;
}

bool VllmWorkerProfiler::Stop() {
  const bool had_recording = recording_;
  active_ = recording_ = false;
  done_ = true;
  return had_recording;
}

}  // namespace tacho::simulate
