#include "run/number_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/parse_json.h"
#include "base/words.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr WeightFormat kEightBits = {1, MathFormat::k8Bit};
constexpr double kNvfp4Bytes = 0.5 + 1.0 / 16;  // with a scale of 8 bits for 16 values

std::string WordOf(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

// Integers with a scale of 16 bits for a group; products are in 16 bits.
std::optional<WeightFormat> Integers(const Json& bits, const Json& group) {
  if (!bits.is_number_integer() || bits < 2 || bits > 8) return std::nullopt;
  const double scale = group.is_number_integer() && group > 0 ? 2.0 / group.get<double>() : 0;
  return WeightFormat{bits.get<double>() / 8 + scale, MathFormat::k16Bit};
}

// compressed-tensors: one group of weights.
std::optional<WeightFormat> OfGroups(const Json& groups) {
  if (!groups.is_object() || groups.size() != 1) return std::nullopt;
  const Json &group = groups.front(), &weights = JsonMember(group, "weights");
  const Json &bits = JsonMember(weights, "num_bits"),
             &inputs = JsonMember(group, "input_activations");
  if (!inputs.is_object()) return Integers(bits, JsonMember(weights, "group_size"));
  if (bits != 8 || JsonMember(inputs, "num_bits") != 8) return std::nullopt;
  return kEightBits;
}

std::optional<WeightFormat> WeightsOf(const Json& of, std::string_view method) {
  if (method == "fp8") return kEightBits;
  // A scale of 8 bits for 32 weights.
  if (method == "mxfp4") return WeightFormat{0.5 + 1.0 / 32, MathFormat::k16Bit};
  const std::string algorithm = WordOf(JsonMember(of, "quant_algo"));
  if (method == "modelopt" && algorithm == "FP8") return kEightBits;
  if (method == "modelopt" && algorithm == "NVFP4")
    return WeightFormat{kNvfp4Bytes, MathFormat::k4Bit};
  if (method == "compressed-tensors") return OfGroups(JsonMember(of, "config_groups"));
  if (method != "awq" && method != "gptq") return std::nullopt;
  return Integers(JsonMember(of, "bits"), JsonMember(of, "group_size"));
}

// Bytes of a cached value, by the word that an engine or ModelOpt has for it.
std::optional<double> CacheBytes(std::string_view word) {
  if (word == "float16" || word == "bfloat16") return 2;
  for (const std::string_view known : {"fp8", "FP8", "fp8_e4m3", "fp8_e5m2", "fp8_inc"})
    if (word == known) return 1;
  for (const std::string_view known : {"nvfp4", "NVFP4", "fp4_e2m1"})
    if (word == known) return kNvfp4Bytes;
  return std::nullopt;
}

// The cache of a quantized checkpoint: ModelOpt has a word, compressed-tensors a scheme, and newer
// ModelOpt has either. nullopt: an unknown one.
std::optional<double> CacheOf(const Json& of) {
  if (const Json& scheme = JsonMember(of, "kv_cache_scheme"); scheme.is_object()) {
    if (JsonMember(scheme, "type") != "float") return std::nullopt;
    if (JsonMember(scheme, "num_bits") == 8) return 1;
    if (JsonMember(scheme, "num_bits") == 4) return kNvfp4Bytes;
    return std::nullopt;
  }
  const std::string word = WordOf(JsonMember(of, "kv_cache_quant_algo"));
  return word.empty() ? 2 : CacheBytes(word);
}

// Whether weights of these modules have 16 bits in all formulas, or have no formula.
bool StaysAnyway(std::string_view name) {
  return name.ends_with(".gate") || name.ends_with(".gate$") || name.ends_with("mlp.gate.*") ||
         HasOneOf(name, {"lm_head", "router", "norm", "embed", "vision", "visual", "projector"});
}

bool Is(std::string_view word, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, word) != all.end();
}

}  // namespace

Result<NumberFormats> ReadQuantization(std::string_view text, bool only_experts) {
  const Json config = ParseJson(text);
  const auto problem = [](const std::string& what) { return Fail(ErrorKind::kUsage, what); };
  const std::string method = WordOf(JsonMember(config, "quant_method"));
  const std::optional<WeightFormat> weights = WeightsOf(config, method);
  if (!weights) {
    return problem(
        fmt::format("no formulas for quantization '{}'; known are fp8, mxfp4, modelopt (FP8, "
                    "NVFP4), awq, gptq "
                    "and compressed-tensors in 8 or 4 bits",
                    method));
  }
  NumberFormats formats;
  formats.expert_weights = *weights;
  const std::optional<double> cache = CacheOf(config);
  if (!cache) return problem("no formulas for the format of the key-value cache");
  formats.cache_bytes = *cache;
  if (only_experts) return formats;
  formats.weights = *weights;
  for (const char* key : {"ignore", "modules_to_not_convert", "exclude_modules"}) {
    for (const Json& name : JsonMember(config, key))
      if (!StaysAnyway(WordOf(name)))
        return problem(fmt::format("no formulas where '{}' is not quantized", WordOf(name)));
  }
  return formats;
}

std::string ApplyEngineFormats(const EngineFormats& formats, DecoderShape& model) {
  constexpr WeightFormat kSixteen;
  if (!Is(formats.dtype,
          {"", "auto", "half", "float16", "bfloat16", "torch.float16", "torch.bfloat16"}))
    return "dtype " + formats.dtype;
  const bool has_own =
      model.weights.bytes != kSixteen.bytes || model.expert_weights.bytes != kSixteen.bytes;
  // The engines quantize these while they load 16-bit weights.
  if (const std::string& word = formats.quantization; !has_own && !Is(word, {"", "auto", "none"})) {
    std::optional<WeightFormat> made;
    if (Is(word, {"fp8", "fp8_per_tensor", "fp8_per_channel", "fp8_per_block", "ptpc_fp8",
                  "modelopt_fp8", "w8a8_fp8", "w8a8_int8"}))
      made = kEightBits;
    if (word == "mxfp8") made = WeightFormat{1 + 1.0 / 32, MathFormat::k8Bit};
    if (word == "int8_per_channel_weight_only") made = WeightFormat{1, MathFormat::k16Bit};
    if (!made) return "quantization " + word;
    model.weights = model.expert_weights = *made;
  }
  if (const std::string& word = formats.kv_cache; !Is(word, {"", "auto"})) {
    const std::optional<double> bytes = CacheBytes(word);
    if (!bytes) return "kv-cache-dtype " + word;
    model.cache_bytes = *bytes;
  }
  return "";
}

}  // namespace tacho
