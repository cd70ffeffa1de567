#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/parse_json.h"
#include "control/engine.h"
#include "control/live/engine_answers.h"

namespace tacho {

// The JSON of a probe's answers. A value is `discarded` (nlohmann) if there was no answer or the
// answer is not JSON.
struct AnswerJson {
  const ProbeAnswers& answers;
  nlohmann::json models, openapi, server_info;
  std::string owner;  // `owned_by` of the first model: "vllm"; "" if not reported
};
AnswerJson ReadAnswers(const ProbeAnswers& answers);

// The JSON of a 200 answer, or a discarded value.
nlohmann::json JsonOfAnswer(const std::optional<HttpResponse>& answer);

// The member's value; nullopt if it is absent or of another type.
template <typename T>
std::optional<T> JsonGet(const nlohmann::json& object, std::string_view key) {
  const nlohmann::json& value = JsonMember(object, key);
  if constexpr (std::is_same_v<T, bool>) {
    if (value.is_boolean()) return value.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (value.is_string()) return value.get<std::string>();
  } else if (value.is_number_unsigned()) {
    if (const auto number = value.get<uint64_t>(); std::in_range<T>(number))
      return static_cast<T>(number);
  } else if (value.is_number_integer()) {
    if (const auto number = value.get<int64_t>(); std::in_range<T>(number))
      return static_cast<T>(number);
  }
  return std::nullopt;
}

// Sets tensor, pipeline and data parallel size from the members named `keys`. An implausible size
// (not from 1 to kMostRanks) is only noted in not_believed.
void TakeSizes(const nlohmann::json& object, std::array<std::string_view, 3> keys,
               EngineFacts& facts);
// Adds the texts that `facts` does not have yet, from the members of `object` with these names.
void TakeFormats(const nlohmann::json& object, EngineFacts& facts);
// Adds those values of vLLM's profiler configuration that `facts` does not have yet.
void TakeProfilerConfig(const nlohmann::json& config, ProfilerFacts& facts);

}  // namespace tacho
