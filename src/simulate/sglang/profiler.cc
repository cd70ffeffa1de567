#include "simulate/sglang/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/parse_json.h"
#include "base/parse_number.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

// A validation error about one field, with the text that msgspec and pydantic put before it.
ApiError Invalid(std::string_view field, std::string_view what) {
  return {400,
          fmt::format("2 validation errors:\n  {{'type': 'is_instance_of', 'loc': ('body', "
                      "'ProfileReq'), 'msg': 'Input should be an instance of ProfileReq'}}\n  "
                      "{{'loc': ('body', '{}'), 'msg': '{}'}}",
                      field, what),
          "Bad Request", ""};
}

// Reads a whole number, even if it is given as text ("3").
bool ReadWhole(const Json& json, const char* key, std::optional<int64_t>& to) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return true;
  if (found->is_number_integer()) {
    to = found->get<int64_t>();
    return true;
  }
  if (!found->is_string()) return false;
  const auto value = ParseWhole<int64_t>(found->get_ref<const std::string&>());
  if (value) to = *value;
  return value.has_value();
}
template <typename T>
bool Read(const Json& json, const char* key, T& to) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return true;
  if constexpr (std::is_same_v<T, std::optional<bool>> || std::is_same_v<T, bool>) {
    if (!found->is_boolean()) return false;
    to = found->template get<bool>();
  } else {
    if (!found->is_string()) return false;
    to = found->template get<std::string>();
  }
  return true;
}

}  // namespace

Result<SglangVersion> ParseSglangVersion(std::string_view text) {
  SglangVersion version;
  constexpr std::string_view kSeries = "0.5.";
  if (text.starts_with(kSeries)) {
    if (const auto patch = ParseWhole<decltype(version.patch)>(text.substr(kSeries.size()))) {
      version.patch = *patch;
      version.text = text;
      return version;
    }
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("'{}' is not a version of SGLang; write 0.5.23 or another of 0.5", text));
}

std::variant<SglangProfileRequest, ApiError> ReadSglangProfileRequest(std::string_view body) {
  SglangProfileRequest out;
  if (body.empty()) return out;
  const Json json = ParseJson(body);
  if (json.is_discarded()) return NoJson(SimulatedEngine::kSglang, body);
  if (json.is_null()) return out;
  if (!json.is_object()) return Invalid("ProfileReq", "Input should be an object");
  for (const auto& [key, to] :
       {std::pair{"start_step", &out.start_step}, std::pair{"num_steps", &out.num_steps}}) {
    if (!ReadWhole(json, key, *to)) return Invalid(key, "Input should be a valid integer");
  }
  for (const auto& [key, to] :
       {std::pair{"output_dir", &out.output_dir}, std::pair{"profile_id", &out.profile_id}}) {
    if (!Read(json, key, *to)) return Invalid(key, "Input should be a valid string");
  }
  if (!Read(json, "profile_prefix", out.prefix)) {
    return Invalid("profile_prefix", "Input should be a valid string");
  }
  for (const auto& [key, to] :
       {std::pair{"with_stack", &out.with_stack}, std::pair{"record_shapes", &out.record_shapes}}) {
    if (!Read(json, key, *to)) return Invalid(key, "Input should be a valid boolean");
  }
  for (const auto& [key, to] :
       {std::pair{"profile_by_stage", &out.by_stage}, std::pair{"merge_profiles", &out.merge},
        std::pair{"detailed_annotations", &out.detailed}}) {
    if (!Read(json, key, *to)) return Invalid(key, "Input should be a valid boolean");
  }
  const auto activities = json.find("activities");
  if (activities != json.end() && !activities->is_null()) {
    out.activities.emplace();
    if (!activities->is_array()) return Invalid("activities", "Input should be a valid list");
    for (const Json& activity : *activities) {
      if (!activity.is_string()) return Invalid("activities", "Input should be a valid string");
      out.activities->push_back(activity.get<std::string>());
    }
  }
  return out;
}

// False if a session runs; the request is then ignored.
bool SglangProfiler::Configure(const SglangProfileRequest& request, int64_t forward) {
  if (in_progress_) return false;
  session_ = request;
  const bool has_steps = request.num_steps.value_or(0) != 0;
  const bool has_start = request.start_step.value_or(0) != 0;
  if (has_start) start_forward_ = std::max(*request.start_step, forward + 1);
  if (!has_steps) {
    target_forward_.reset();
  } else if (request.by_stage) {
    prefills_ = decodes_ = 0;
    target_prefills_ = target_decodes_ = *request.num_steps;
  } else if (has_start) {
    target_forward_ = *start_forward_ + *request.num_steps;
  } else {
    target_forward_ = forward + *request.num_steps + (version_.counts_right() ? 1 : 0);
  }
  return true;
}

SglangProfiler::Reply SglangProfiler::Start(const SglangProfileRequest& request, int64_t forward) {
  Reply reply;
  if (request.by_stage || request.start_step.value_or(0) != 0) {
    reply.good = Configure(request, forward);
    return reply;
  }
  // If a session already runs, Configure ignores the request, but the profiler still starts again.
  Configure(request, forward);
  Begin("", reply.orders);
  return reply;
}

SglangProfiler::Reply SglangProfiler::Stop() {
  Reply reply;
  reply.good = in_progress_;
  if (in_progress_) Write("", reply.orders);
  return reply;
}

void SglangProfiler::Begin(std::string_view stage, std::vector<Order>& orders) {
  static constexpr std::string_view kKnown[] = {"CPU", "GPU", "MEM", "CUDA_PROFILER"};
  const std::vector<std::string> all = {"CPU", "GPU"};
  const auto& activities = session_.activities ? *session_.activities : all;
  const auto has = [&](std::string_view name) { return std::ranges::count(activities, name) > 0; };
  // Unknown names are ignored. If no name is known, nothing begins, and no error is reported.
  if (std::ranges::none_of(kKnown, has)) return;
  in_progress_ = true;
  recording_ = has("CPU") || has("GPU");
  if (recording_) orders.push_back({Order::Kind::kBegin, stage});
}

void SglangProfiler::Write(std::string_view stage, std::vector<Order>& orders) {
  if (recording_) orders.push_back({Order::Kind::kWrite, stage});
  in_progress_ = recording_ = false;
  start_forward_.reset();
}

std::vector<SglangProfiler::Order> SglangProfiler::OnBatch(const StepLoad& load, int64_t forward) {
  std::vector<Order> orders;
  if (load.empty()) return orders;
  if (session_.by_stage) {
    OnStagedBatch(load, orders);
    return orders;
  }
  if (target_forward_ && *target_forward_ <= forward && in_progress_) Write("", orders);
  if (start_forward_ && *start_forward_ == forward) Begin("", orders);
  return orders;
}

void SglangProfiler::OnStagedBatch(const StepLoad& load, std::vector<Order>& orders) {
  const bool is_prefill = load.context.requests > 0;
  auto& count = is_prefill ? prefills_ : decodes_;
  if (!count) {
    // The session began without num_steps: in SGLang the counters are None, and None + 1 raises a
    // TypeError.
    orders.push_back({Order::Kind::kDie, ""});
    return;
  }
  if (*count == 0) {
    // A prefill's recording must not continue into the decode steps.
    if (!is_prefill && in_progress_) Write("EXTEND", orders);
    Begin(is_prefill ? "EXTEND" : "DECODE", orders);
  }
  ++*count;
  const auto& target = is_prefill ? target_prefills_ : target_decodes_;
  if (*count > target.value_or(0) && in_progress_) {
    Write(is_prefill ? "EXTEND" : "DECODE", orders);
  }
}

}  // namespace tacho::simulate
