#include "cli/load/load_job_plan.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "base/parse_number.h"
#include "cli/options/load_argument.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr int64_t kDefaultDurationNs = 30'000'000'000, kDefaultGraceNs = 60'000'000'000;
constexpr uint64_t kBenchPrompts = 1000;
constexpr int64_t kBenchInput = 1024, kBenchOutput = 128;

// Fills the plan from the flags, one group of flags after the other.
class PlanSetter {
 public:
  PlanSetter(const LoadFlags& flags, LoadJob& job) : f_(flags), job_(job) {}

  Result<void> Set() {
    TACHO_RETURN_IF_ERROR(SetScenario());
    TACHO_RETURN_IF_ERROR(SetDataset());
    TACHO_RETURN_IF_ERROR(SetLengths());
    TACHO_RETURN_IF_ERROR(SetLora());
    TACHO_RETURN_IF_ERROR(SetAmount());
    TACHO_RETURN_IF_ERROR(SetRate());
    return SetPauses();
  }

 private:
  Result<void> SetScenario() {
    if (!f_.scenario.empty() && !f_.mix.empty()) {
      return LoadUsage("--scenario and --mix do not go together");
    }
    const std::string& text = f_.scenario.empty() ? f_.mix : f_.scenario;
    if (text.empty()) return {};
    TACHO_ASSIGN_OR_RETURN(
        const auto mix, WithContext(ParseMix(text), f_.scenario.empty() ? "--mix" : "--scenario"));
    job_.plan.mix = mix.parts;
    if (const std::string note = MixNote(mix); !note.empty()) job_.remarks.push_back(note);
    return {};
  }

  Result<void> SetDataset() {
    const std::string& name = f_.dataset_name;
    const bool from_file =
        name == "sharegpt" || name == "custom" || name == "burstgpt" || name == "timed_trace";
    if (!name.empty() && !from_file && name != "random" && name != "prefix_repetition") {
      return LoadUsage(
          fmt::format("no --dataset-name '{}' (there are random, sharegpt, custom, "
                      "burstgpt, timed_trace, prefix_repetition)",
                      VisibleText(name)));
    }
    if (from_file && f_.dataset.empty()) {
      return LoadUsage(fmt::format("--dataset-name {} needs --dataset-path", name));
    }
    if (!f_.dataset.empty() && (!f_.scenario.empty() || !f_.mix.empty())) {
      return LoadUsage("a dataset and a scenario do not go together");
    }
    if (!f_.dataset.empty()) job_.dataset_path = f_.dataset;
    DatasetOptions& options = job_.dataset;
    options.stop_at_broken = f_.strict;
    options.block_tokens = f_.block_tokens;
    options.seconds_a_unit = f_.time_unit_s;
    if (name == "timed_trace") {  // vLLM's defaults
      options.block_tokens = f_.block_tokens.value_or(16);
      options.seconds_a_unit = f_.time_unit_s.value_or(1);
    }
    const auto take = [](const std::string& given, std::string& label) {
      if (!given.empty()) label = given;
    };
    take(f_.label_timestamp, options.timestamp_label);
    take(f_.label_input, options.input_label);
    take(f_.label_output, options.output_label);
    take(f_.label_hash, options.hash_label);
    job_.plan.shuffle = !f_.disable_shuffle;
    job_.plan.oversample = !f_.no_oversample;
    if ((f_.replay || f_.replay_speed) && f_.dataset.empty()) {
      return LoadUsage("--replay (--self-timed) needs a --dataset with times");
    }
    if (f_.no_replay && (f_.replay || f_.replay_speed)) {
      return LoadUsage("--no-self-timed and --replay do not go together");
    }
    const bool timed = name == "timed_trace" && f_.rate.empty() && !f_.no_replay;
    if (f_.replay || f_.replay_speed || timed) {
      job_.plan.replay_speed = f_.replay_speed.value_or(1);
    }
    return {};
  }

  using Length = std::optional<int64_t>;
  // vLLM's client would silently use the general length.
  static Result<void> CheckOneLength(
      std::string_view general, const Length& length,
      std::initializer_list<std::pair<std::string_view, Length>> particular) {
    for (const auto& [name, other] : particular) {
      if (!length || !other || *length == *other) continue;
      return LoadUsage(fmt::format("{} {} and {} {} ask for different lengths: give one of them",
                                   general, *length, name, *other));
    }
    return {};
  }

  Result<void> SetLengths() {
    PlanOptions& plan = job_.plan;
    const auto first = [](std::initializer_list<std::optional<int64_t>> all) {
      for (const auto& one : all) {
        if (one) return one;
      }
      return std::optional<int64_t>();
    };
    TACHO_RETURN_IF_ERROR(CheckOneLength("--input-len", f_.input_len,
                                         {{"--random-input-len", f_.random_input_len},
                                          {"--prefix-repetition-suffix-len", f_.suffix_len}}));
    TACHO_RETURN_IF_ERROR(CheckOneLength("--output-len", f_.output_len,
                                         {{"--random-output-len", f_.random_output_len},
                                          {"--prefix-repetition-output-len", f_.prefix_output_len},
                                          {"--sharegpt-output-len", f_.sharegpt_output_len},
                                          {"--custom-output-len", f_.custom_output_len}}));
    plan.prompt_tokens = first({f_.random_input_len, f_.suffix_len, f_.input_len});
    plan.output_tokens =
        first({f_.random_output_len, f_.prefix_output_len, f_.sharegpt_output_len, f_.output_len});
    if (f_.custom_output_len && *f_.custom_output_len > 0)
      plan.output_tokens = f_.custom_output_len;
    if (f_.dataset_name == "random") {
      plan.prompt_tokens = plan.prompt_tokens.value_or(kBenchInput);
      plan.output_tokens = plan.output_tokens.value_or(kBenchOutput);
    }
    if (f_.dataset_name == "custom" && !f_.custom_output_len && !plan.output_tokens) {
      plan.output_tokens = 256;
    }
    if (f_.dataset_name == "prefix_repetition" || f_.prefix_len || f_.num_prefixes) {
      plan.prompt_tokens = plan.prompt_tokens.value_or(256);
      plan.output_tokens = plan.output_tokens.value_or(128);
      plan.prefix_tokens = f_.prefix_len.value_or(256);
      plan.prefixes = static_cast<uint64_t>(f_.num_prefixes.value_or(10));
    }
    if (f_.random_prefix_len) plan.prefix_tokens = *f_.random_prefix_len;
    TACHO_RETURN_IF_ERROR(SetSpread());
    if (f_.shared_prefix) plan.shared_prefix = *f_.shared_prefix;
    plan.most_total_tokens = f_.max_model_len;
    plan.seed = static_cast<uint64_t>(f_.seed.value_or(0));
    if (!f_.salt.empty()) {
      const auto salt = ParseWhole<uint64_t>(f_.salt);
      if (!salt) {
        return LoadUsage(
            fmt::format("--salt takes a whole number, not '{}'", VisibleText(f_.salt)));
      }
      plan.salt = *salt;
    }
    return {};
  }

  Result<void> SetSpread() {
    if (f_.range_ratio.empty()) return {};
    TACHO_ASSIGN_OR_RETURN(job_.plan.spread,
                           WithContext(ParseLengthSpread(f_.range_ratio), "--random-range-ratio"));
    if (f_.backend == "sglang") {
      job_.remarks.emplace_back(
          "--random-range-ratio is vLLM's, lengths from (1-R) to (1+R) times the given ones; "
          "SGLang's own client means from R to 1");
    }
    return {};
  }

  Result<void> SetLora() {
    const std::string& how = f_.lora_assignment;
    if (!how.empty() && how != "random" && how != "round-robin") {
      return LoadUsage(fmt::format("no --lora-assignment '{}' (there are random, round-robin)",
                                   VisibleText(how)));
    }
    if (!how.empty() && f_.lora_modules.empty())
      return LoadUsage("--lora-assignment needs --lora-modules");
    if (!f_.lora_modules.empty() && job_.target.api == "generate") {
      return LoadUsage("--lora-modules go with --api completions or chat, not with SGLang's own");
    }
    job_.plan.models = f_.lora_modules;
    job_.plan.models_in_turn = how == "round-robin";
    return {};
  }

  Result<void> SetAmount() {
    if (f_.requests && f_.num_prompts) {
      return LoadUsage("--requests and --num-prompts are the same thing");
    }
    PlanOptions& plan = job_.plan;
    if (f_.requests) plan.requests = static_cast<uint64_t>(*f_.requests);
    if (f_.num_prompts) plan.requests = static_cast<uint64_t>(*f_.num_prompts);
    if (!f_.duration.empty()) {
      TACHO_ASSIGN_OR_RETURN(plan.duration_ns, NsArgument("--duration", f_.duration));
    }
    if (!plan.requests && !plan.duration_ns && !plan.replay_speed) {
      if (f_.LikeBench()) {
        plan.requests = kBenchPrompts;
      } else {
        plan.duration_ns = kDefaultDurationNs;
      }
    }
    return {};
  }

  Result<void> SetRate() {
    PlanOptions& plan = job_.plan;
    std::optional<double> rate;
    if (!f_.rate.empty()) {
      TACHO_ASSIGN_OR_RETURN(rate, NumberArgument("--rate", f_.rate));
    }
    const bool endless = rate && std::isinf(*rate);
    if (rate && !endless) {
      if (plan.replay_speed) return LoadUsage("--replay and --rate do not go together");
      plan.rate = rate;
    }
    if (!f_.burstiness.empty()) {
      TACHO_ASSIGN_OR_RETURN(plan.burstiness, NumberArgument("--burstiness", f_.burstiness));
    }
    TACHO_RETURN_IF_ERROR(SetRamp());
    // Without --concurrency, a load with a rate ("inf" too) or with vLLM's own flags may have any
    // number of requests in flight. Other loads may have at most 8.
    const bool unbounded =
        plan.OpenLoop() || endless || f_.LikeBench() || (f_.num_prompts && f_.rate.empty());
    plan.concurrency = f_.concurrency ? static_cast<uint64_t>(*f_.concurrency) : unbounded ? 0 : 8;
    job_.identity.burstiness = plan.burstiness;
    job_.identity.ramp = plan.ramp;
    return {};
  }

  Result<void> SetRamp() {
    if (f_.ramp.empty()) {
      if (!f_.ramp_from.empty() || !f_.ramp_to.empty()) {
        return LoadUsage("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy");
      }
      return {};
    }
    if (f_.ramp != "linear" && f_.ramp != "exponential") {
      return LoadUsage(fmt::format("no --ramp-up-strategy '{}' (there are linear, exponential)",
                                   VisibleText(f_.ramp)));
    }
    if (f_.ramp_from.empty() || f_.ramp_to.empty()) {
      return LoadUsage("--ramp-up-strategy needs --ramp-up-start-rps and --ramp-up-end-rps");
    }
    if (job_.plan.rate) return LoadUsage("a ramp and --rate do not go together");
    TACHO_ASSIGN_OR_RETURN(const auto from, NumberArgument("--ramp-up-start-rps", f_.ramp_from));
    TACHO_ASSIGN_OR_RETURN(const auto to, NumberArgument("--ramp-up-end-rps", f_.ramp_to));
    job_.plan.ramp =
        Ramp{f_.ramp == "linear" ? RampShape::kLinear : RampShape::kExponential, from, to, 0};
    return {};
  }

  Result<void> SetPauses() {
    job_.plan.grace_ns = kDefaultGraceNs;
    if (!f_.grace.empty()) {
      TACHO_ASSIGN_OR_RETURN(job_.plan.grace_ns, NsArgument("--grace", f_.grace));
    }
    if (!f_.think.empty()) {
      TACHO_ASSIGN_OR_RETURN(job_.plan.think_ns, NsArgument("--think", f_.think));
    }
    return {};
  }

  const LoadFlags& f_;
  LoadJob& job_;
};

}  // namespace

Result<void> SetPlan(const LoadFlags& flags, LoadJob& job) { return PlanSetter(flags, job).Set(); }

}  // namespace tacho
