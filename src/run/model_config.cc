#include "run/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/parse_json.h"
#include "io/read_whole.h"
#include "run/number_formats.h"
#include "run/run_place.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostConfigBytes = size_t{4} << 20;
constexpr int64_t kMostLayers = 4096;
constexpr int64_t kMostSize = int64_t{1} << 26;  // products of three stay in range

// Where a model's config has its experts.
enum class ExpertKeys : uint8_t { kNone, kQwen, kMixtral, kGptOss, kDeepSeek };
enum class Windows : uint8_t { kNone, kAll, kEverySecond, kAllButEverySixth };
struct Family {
  std::string_view type;  // `model_type`
  ExpertKeys experts = ExpertKeys::kNone;
  Windows windows = Windows::kNone;  // without `layer_types`
};
// The models that tacho knows: their layers consist of attention and a gated MLP or experts, as
// DecoderShape has them. Source: the configuration classes of transformers 4.57.
constexpr Family kFamilies[] = {
    {"llama"},
    {"mistral", ExpertKeys::kNone, Windows::kAll},
    {"qwen2"},
    {"qwen3"},
    {"phi3", ExpertKeys::kNone, Windows::kAll},
    {"granite"},
    {"olmo2"},
    {"glm4"},
    {"gemma"},
    {"gemma2", ExpertKeys::kNone, Windows::kEverySecond},
    {"gemma3_text", ExpertKeys::kNone, Windows::kAllButEverySixth},
    {"mixtral", ExpertKeys::kMixtral, Windows::kAll},
    {"qwen2_moe", ExpertKeys::kQwen},
    {"qwen3_moe", ExpertKeys::kQwen},
    {"gpt_oss", ExpertKeys::kGptOss},
    {"deepseek_v2", ExpertKeys::kDeepSeek},
    {"deepseek_v3", ExpertKeys::kDeepSeek},
    {"kimi_k2", ExpertKeys::kDeepSeek},
    {"glm4_moe", ExpertKeys::kDeepSeek},
};

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

// Reads one configuration and keeps the first problem. `config`: the configuration of the text
// model. `whole`: the whole file, which for a model that also reads images has more around
// `config`.
class ConfigReader {
 public:
  ConfigReader(const Json& config, const Json& whole) : config_(config), whole_(whole) {
    const Json& dense = JsonMember(config_, "mlp_only_layers");
    if (!dense.is_array()) return;
    for (const Json& layer : dense)
      if (layer.is_number_integer()) dense_.insert(layer.get<int64_t>());
  }

  Result<DecoderShape> Read() {
    const std::string type = TextOf(JsonMember(config_, "model_type"));
    const auto* const family = std::ranges::find(kFamilies, type, &Family::type);
    if (family == std::end(kFamilies)) {
      return Fail(ErrorKind::kUsage,
                  type.empty() ? "no model_type: this is no config.json of a model"
                               : fmt::format("no formulas for model_type '{}'; "
                                             "docs/metrics.md#roofline lists those that are known",
                                             type));
    }
    DecoderShape shape;
    shape.type = type;
    Sizes(*family, shape);
    const int64_t layers = Size("num_hidden_layers", kMostLayers);
    if (family->experts != ExpertKeys::kNone) ExpertSizes(family->experts, shape);
    if (problem_.empty()) Layers(*family, layers, shape);
    Formats(type, shape);
    if (!problem_.empty()) return Fail(ErrorKind::kUsage, problem_);
    return shape;
  }

 private:
  void Problem(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }
  std::optional<int64_t> Optional(std::string_view key, int64_t most = kMostSize) {
    const Json& value = JsonMember(config_, key);
    if (value.is_null()) return std::nullopt;
    if (value.is_number_integer() && value >= 0 && value <= most) return value.get<int64_t>();
    Problem(fmt::format("{} is not a number from 0 to {}", key, most));
    return std::nullopt;
  }
  int64_t Size(std::string_view key, int64_t most = kMostSize) {
    const int64_t value = Optional(key, most).value_or(0);
    if (value < 1) Problem(fmt::format("no {}", key));
    return value;
  }

  void Sizes(const Family& family, DecoderShape& shape) {
    // Hugging Face leaves out what the class of the configuration has by default.
    const bool gemma3 = family.type == "gemma3_text";
    shape.hidden = Size("hidden_size");
    shape.vocabulary = gemma3 ? Optional("vocab_size").value_or(262208) : Size("vocab_size");
    shape.heads =
        gemma3 ? Optional("num_attention_heads").value_or(8) : Size("num_attention_heads");
    shape.kv_heads = Optional("num_key_value_heads").value_or(gemma3 ? 4 : shape.heads);
    shape.latent = Optional("kv_lora_rank").value_or(0);
    if (shape.latent > 0) {
      shape.query_rank = Optional("q_lora_rank").value_or(0);
      shape.rope_size = Size("qk_rope_head_dim");
      shape.nope_size = Size("qk_nope_head_dim");
      shape.value_size = Size("v_head_dim");
    } else {
      const int64_t equal = family.type.starts_with("gemma") ? 256
                            : shape.heads > 0                ? shape.hidden / shape.heads
                                                             : 0;
      shape.head_size = Optional("head_dim").value_or(equal);
      if (shape.head_size < 1 || shape.kv_heads < 1) Problem("no heads");
    }
  }

  void ExpertSizes(ExpertKeys keys, DecoderShape& shape) {
    const bool one_width = keys == ExpertKeys::kMixtral || keys == ExpertKeys::kGptOss;
    experts_ = Size(one_width                       ? "num_local_experts"
                    : keys == ExpertKeys::kDeepSeek ? "n_routed_experts"
                                                    : "num_experts");
    shape.experts_per_token = Size("num_experts_per_tok");
    shape.expert_width = Size(one_width ? "intermediate_size" : "moe_intermediate_size");
    if (shape.experts_per_token > experts_) Problem("more experts a token than there are");
    if (keys == ExpertKeys::kDeepSeek) {
      shared_ = Optional("n_shared_experts", kMostLayers).value_or(0) * shape.expert_width;
      first_experts_ = Optional("first_k_dense_replace", kMostLayers).value_or(0);
      every_ = std::max<int64_t>(1, Optional("moe_layer_freq", kMostLayers).value_or(1));
    } else if (keys == ExpertKeys::kQwen) {
      shared_ = Optional("shared_expert_intermediate_size").value_or(0);
      every_ = std::max<int64_t>(1, Optional("decoder_sparse_step", kMostLayers).value_or(1));
    }
  }

  // Whether a layer has experts, if the model has.
  [[nodiscard]] bool HasExperts(const Family& family, int64_t layer) const {
    if (dense_.contains(layer)) return false;
    if (family.experts == ExpertKeys::kQwen) return (layer + 1) % every_ == 0;
    return layer >= first_experts_ && layer % every_ == 0;
  }

  [[nodiscard]] bool HasWindow(const Family& family, int64_t layer) const {
    const Json& types = JsonMember(config_, "layer_types");
    if (types.is_array() && static_cast<size_t>(layer) < types.size())
      return types[static_cast<size_t>(layer)] == "sliding_attention";
    switch (family.windows) {
      case Windows::kNone:
        return false;
      case Windows::kAll:
        return true;
      case Windows::kEverySecond:
        return layer % 2 == 0;
      case Windows::kAllButEverySixth:
        return (layer + 1) % 6 != 0;
    }
    return false;
  }

  void Layers(const Family& family, int64_t count, DecoderShape& shape) {
    const int64_t window = Optional("sliding_window").value_or(0);
    for (int64_t i = 0; i < count; ++i) {
      DecoderLayer& layer = shape.layers.emplace_back();
      if (HasWindow(family, i)) layer.window = window;
      if (experts_ > 0 && HasExperts(family, i)) {
        layer.experts = experts_;
        layer.shared_expert = shared_;
      } else {
        layer.mlp = Size("intermediate_size");
      }
    }
  }

  // Reads how the weights and the cache are stored. If the way is not known, that is a problem of
  // the configuration. Weights of 32 bits count as 16, because engines load them in 16 bits.
  void Formats(std::string_view type, DecoderShape& shape) {
    const Json* quantization = nullptr;
    for (const Json* of : {&config_, &whole_}) {
      for (const char* key : {"quantization_config", "compression_config"})
        if (quantization == nullptr && JsonMember(*of, key).is_object())
          quantization = &JsonMember(*of, key);
    }
    if (quantization == nullptr) return;
    const auto formats = ReadQuantization(quantization->dump(), type == "gpt_oss");
    if (!formats) return Problem(formats.error().message);
    shape.expert_weights = formats->expert_weights;
    shape.weights = formats->weights;
    shape.cache_bytes = formats->cache_bytes;
  }

  const Json &config_, &whole_;
  std::set<int64_t> dense_;  // layers without experts
  std::string problem_;
  int64_t experts_ = 0, shared_ = 0, first_experts_ = 0, every_ = 1;
};

// What the engine said of itself when it was recorded.
void AddWordsOfEngine(const PlaceInRun& place, RooflineSetup& setup, EngineFormats& formats) {
  const Json run = ParseJson(ReadRunJson(place.folder));
  for (const Json& worker : JsonMember(run, "workers")) {
    if (TextOf(JsonMember(worker, "name")) != place.worker) continue;
    const auto size = [&](std::string_view key) -> std::optional<int64_t> {
      const Json& value = JsonMember(worker, key);
      if (!value.is_number_integer() || value < 1 || value > kMostSize) return std::nullopt;
      return value.get<int64_t>();
    };
    if (!setup.tensor_ranks) setup.tensor_ranks = size("tensor_parallel");
    setup.stages = size("pipeline_parallel");
    formats = {TextOf(JsonMember(worker, "dtype")), TextOf(JsonMember(worker, "quantization")),
               TextOf(JsonMember(worker, "kv_cache_dtype"))};
    return;
  }
}

// The text of a file beside a config.json, in which older ModelOpt has the formats; "" if there is
// none.
std::string QuantizationBeside(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return "";
  return ReadWholeFile(file, kMostConfigBytes).value_or("");
}

}  // namespace

Result<DecoderShape> ParseModelConfig(std::string_view text, std::string_view quantization) {
  Json config = ParseJson(text);
  if (!config.is_object()) return Fail(ErrorKind::kUsage, "not a JSON object");
  if (const Json beside = ParseJson(quantization);
      JsonMember(beside, "quantization").is_object() && !config.contains("quantization_config")) {
    config["quantization_config"] = JsonMember(beside, "quantization");
    config["quantization_config"]["quant_method"] = "modelopt";
  }
  const Json& of_text = JsonMember(config, "text_config");
  return ConfigReader(of_text.is_object() ? of_text : config, config).Read();
}

Result<DecoderShape> ReadModelConfig(const std::string& path) {
  std::error_code ignored;
  const std::string file =
      std::filesystem::is_directory(path, ignored) ? path + "/config.json" : path;
  TACHO_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file, kMostConfigBytes));
  const std::filesystem::path beside =
      std::filesystem::path(file).parent_path() / std::string(kQuantizationFile);
  return WithContext(ParseModelConfig(text, QuantizationBeside(beside.string())), file);
}

RooflineSetup WithKeptModel(RooflineSetup setup, const std::string& trace) {
  const std::optional<PlaceInRun> place = RunPlaceOf(trace);
  if (!place) return setup;
  EngineFormats formats;
  AddWordsOfEngine(*place, setup, formats);
  if (!setup.model) {
    const std::string file = place->folder + "/" + ModelConfigName(place->worker);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return setup;
    auto text = ReadWholeFile(file, kMostConfigBytes);
    if (!text) return setup;
    auto kept = ParseModelConfig(
        *text, QuantizationBeside(place->folder + "/" + QuantizationName(place->worker)));
    if (!kept) return setup;
    setup.model = std::move(*kept);
  }
  setup.unknown_format = ApplyEngineFormats(formats, *setup.model);
  return setup;
}

}  // namespace tacho
