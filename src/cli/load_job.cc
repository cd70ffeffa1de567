#include "cli/load_job.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/json_text.h"
#include "cli/duration_argument.h"
#include "cli/load_sweep.h"
#include "load/request_body.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

constexpr int64_t kDefaultDurationNs = 30'000'000'000, kDefaultGraceNs = 60'000'000'000;
constexpr uint64_t kBenchPrompts = 1000;
constexpr int64_t kBenchInput = 1024, kBenchOutput = 128;

tl::unexpected<Error> Usage(std::string problem) {
  return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho load --help'");
}

Result<double> Number(std::string_view option, std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return Usage(fmt::format("{} wants a number, not '{}'", option, VisibleText(text)));
  }
  return value;
}

Result<std::chrono::milliseconds> Milliseconds(std::string_view option, const std::string& text) {
  const auto duration = ParseDuration(text);
  if (!duration) return tl::unexpected<Error>(duration.error().WithContext(option));
  return std::chrono::milliseconds(duration->ns / 1'000'000);
}

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Fills a LoadJob from the flags, one group of them after the other.
class JobMaker {
 public:
  explicit JobMaker(const LoadFlags& flags) : f_(flags) {}

  Result<LoadJob> Make() && {
    TACHO_RETURN_IF_ERROR(SetTarget());
    TACHO_RETURN_IF_ERROR(SetApi());
    TACHO_RETURN_IF_ERROR(SetSampling());
    TACHO_RETURN_IF_ERROR(SetScenario());
    TACHO_RETURN_IF_ERROR(SetDataset());
    TACHO_RETURN_IF_ERROR(SetLengths());
    TACHO_RETURN_IF_ERROR(SetLora());
    TACHO_RETURN_IF_ERROR(SetAmount());
    TACHO_RETURN_IF_ERROR(SetRate());
    TACHO_RETURN_IF_ERROR(SetTimes());
    TACHO_RETURN_IF_ERROR(SetReport());
    TACHO_RETURN_IF_ERROR(SetSweep());
    TACHO_RETURN_IF_ERROR(CheckPlan(job_.plan));
    return std::move(job_);
  }

 private:
  bool Bench() const { return !f_.dataset_name.empty(); }

  Result<void> SetTarget() {
    job_.urls = f_.urls;
    job_.urls.insert(job_.urls.end(), f_.base_urls.begin(), f_.base_urls.end());
    if (!f_.host.empty() || f_.port) {
      job_.urls.push_back(fmt::format("http://{}:{}", f_.host.empty() ? "127.0.0.1" : f_.host,
                                      f_.port.value_or(8000)));
    }
    if (job_.urls.empty()) return Usage("no server given");
    if (f_.profile && !f_.sweep.empty()) {
      return Usage("--profile and --sweep do not go together: a recording is of one load");
    }
    if (!f_.profile && (f_.session != SessionArguments() || !f_.flush_timeout.empty())) {
      return Usage("--steps, --out, --trace-dir and what else a recording takes need --profile");
    }
    job_.target.model = f_.served_model_name.empty() ? f_.model : f_.served_model_name;
    for (const char* name : {"OPENAI_API_KEY", "TACHO_API_KEY"}) {
      const char* key = std::getenv(name);
      if (job_.target.bearer_key.empty() && key != nullptr) job_.target.bearer_key = key;
    }
    if (!f_.api_key.empty()) job_.target.bearer_key = f_.api_key;
    for (const std::string& header : f_.headers) {
      const size_t sign = header.find_first_of("=:");
      if (sign == std::string::npos || sign == 0) {
        return Usage(fmt::format("--header wants KEY=VALUE, not '{}'", VisibleText(header)));
      }
      const size_t value = header.find_first_not_of(' ', sign + 1);
      job_.target.headers.push_back(
          {header.substr(0, sign), value == std::string::npos ? "" : header.substr(value)});
    }
    return {};
  }

  Result<void> SetApi() {
    const std::string& backend = f_.backend;
    std::string& api = job_.target.api;
    if (backend == "openai-chat") {
      api = "chat";
    } else if (backend == "sglang") {
      api = "generate";
    } else if (!backend.empty() && backend != "vllm" && backend != "openai") {
      return Usage(fmt::format("no --backend '{}' (there are vllm, openai, openai-chat, sglang)",
                               VisibleText(backend)));
    }
    if (!f_.api.empty()) api = f_.api;
    if (api != "completions" && api != "chat" && api != "generate") {
      return Usage(
          fmt::format("no --api '{}' (there are completions, chat, generate)", VisibleText(api)));
    }
    job_.target.route = f_.endpoint;
    if (f_.endpoint.ends_with("/chat/completions")) api = "chat";
    job_.target.stream = !f_.no_streaming;
    job_.target.ignore_eos = !f_.natural_length;
    job_.identity.backend = !backend.empty()    ? backend
                            : api == "chat"     ? "openai-chat"
                            : api == "generate" ? "sglang"
                                                : "openai";
    job_.identity.endpoint_type = job_.identity.backend;
    return {};
  }

  Result<void> SetSampling() {
    std::string fields;
    const std::pair<const char*, const std::string*> all[] = {
        {"temperature", &f_.temperature},
        {"top_p", &f_.top_p},
        {"top_k", &f_.top_k},
        {"min_p", &f_.min_p},
        {"frequency_penalty", &f_.frequency_penalty},
        {"presence_penalty", &f_.presence_penalty},
        {"repetition_penalty", &f_.repetition_penalty},
        {"logprobs", &f_.logprobs}};
    for (const auto& [name, text] : all) {
      if (text->empty()) continue;
      const auto number = Number(name, *text);
      if (!number) return tl::unexpected<Error>(number.error());
      if (std::isinf(*number)) return Usage(fmt::format("{} must be finite", name));
      fields += fmt::format("{}\"{}\":{}", fields.empty() ? "" : ",", name, *number);
    }
    if (!fields.empty()) job_.target.sampling = "{" + fields + "}";
    if (!f_.extra_body.empty()) {
      if (!IsJsonObject(f_.extra_body)) {
        return Usage(
            fmt::format("--extra-body wants a JSON object, not '{}'", VisibleText(f_.extra_body)));
      }
      job_.target.extra_body = f_.extra_body;
    }
    return {};
  }

  Result<void> SetScenario() {
    if (!f_.scenario.empty() && !f_.mix.empty()) {
      return Usage("--scenario and --mix do not go together");
    }
    const std::string& text = f_.scenario.empty() ? f_.mix : f_.scenario;
    if (text.empty()) return {};
    const auto mix = ParseMix(text);
    if (!mix) {
      return tl::unexpected<Error>(
          mix.error().WithContext(f_.scenario.empty() ? "--mix" : "--scenario"));
    }
    job_.plan.mix = mix->parts;
    if (const std::string note = MixNote(*mix); !note.empty()) job_.remarks.push_back(note);
    return {};
  }

  Result<void> SetDataset() {
    const std::string& name = f_.dataset_name;
    const bool from_file =
        name == "sharegpt" || name == "custom" || name == "burstgpt" || name == "timed_trace";
    if (!name.empty() && !from_file && name != "random" && name != "prefix_repetition") {
      return Usage(
          fmt::format("no --dataset-name '{}' (there are random, sharegpt, custom, "
                      "burstgpt, timed_trace, prefix_repetition)",
                      VisibleText(name)));
    }
    if (from_file && f_.dataset.empty()) {
      return Usage(fmt::format("--dataset-name {} needs --dataset-path", name));
    }
    if (!f_.dataset.empty() && (!f_.scenario.empty() || !f_.mix.empty())) {
      return Usage("a dataset and a scenario do not go together");
    }
    if (!f_.dataset.empty()) job_.dataset_path = f_.dataset;
    DatasetOptions& options = job_.dataset;
    options.stop_at_broken = f_.strict;
    options.block_tokens = f_.block_tokens.value_or(name == "timed_trace" ? 16 : 512);
    // vLLM's default is seconds, Mooncake's files have milliseconds.
    options.seconds_a_unit = f_.time_unit_s.value_or(name == "timed_trace" ? 1 : 0);
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
      return Usage("--replay (--self-timed) needs a --dataset with times");
    }
    if (f_.no_replay && (f_.replay || f_.replay_speed)) {
      return Usage("--no-self-timed and --replay do not go together");
    }
    const bool timed = name == "timed_trace" && f_.rate.empty() && !f_.no_replay;
    if (f_.replay || f_.replay_speed || timed) {
      job_.plan.replay_speed = f_.replay_speed.value_or(1);
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
      uint64_t salt = 0;
      const auto [end, error] =
          std::from_chars(f_.salt.data(), f_.salt.data() + f_.salt.size(), salt);
      if (error != std::errc() || end != f_.salt.data() + f_.salt.size()) {
        return Usage(fmt::format("--salt wants a whole number, not '{}'", VisibleText(f_.salt)));
      }
      plan.salt = salt;
    }
    return {};
  }

  Result<void> SetSpread() {
    if (f_.range_ratio.empty()) return {};
    const auto spread = ParseLengthSpread(f_.range_ratio);
    if (!spread) return tl::unexpected<Error>(spread.error().WithContext("--random-range-ratio"));
    job_.plan.spread = *spread;
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
      return Usage(fmt::format("no --lora-assignment '{}' (there are random, round-robin)",
                               VisibleText(how)));
    }
    if (!how.empty() && f_.lora_modules.empty())
      return Usage("--lora-assignment needs --lora-modules");
    if (!f_.lora_modules.empty() && job_.target.api == "generate") {
      return Usage("--lora-modules go with --api completions or chat, not with SGLang's own");
    }
    job_.plan.models = f_.lora_modules;
    job_.plan.models_in_turn = how == "round-robin";
    return {};
  }

  Result<void> SetAmount() {
    if (f_.requests && f_.num_prompts) {
      return Usage("--requests and --num-prompts are the same thing");
    }
    PlanOptions& plan = job_.plan;
    if (f_.requests) plan.requests = static_cast<uint64_t>(*f_.requests);
    if (f_.num_prompts) plan.requests = static_cast<uint64_t>(*f_.num_prompts);
    if (!f_.duration.empty()) {
      const auto duration = ParseDuration(f_.duration);
      if (!duration) return tl::unexpected<Error>(duration.error().WithContext("--duration"));
      plan.duration_ns = duration->ns;
    }
    if (!plan.requests && !plan.duration_ns && !plan.replay_speed) {
      if (Bench()) {
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
      const auto number = Number("--rate", f_.rate);
      if (!number) return tl::unexpected<Error>(number.error());
      rate = *number;
    }
    const bool endless = rate && std::isinf(*rate);
    if (rate && !endless) {
      if (plan.replay_speed && f_.replay) return Usage("--replay and --rate do not go together");
      plan.rate = rate;
      plan.replay_speed.reset();
    }
    if (!f_.burstiness.empty()) {
      const auto number = Number("--burstiness", f_.burstiness);
      if (!number) return tl::unexpected<Error>(number.error());
      plan.burstiness = *number;
    }
    TACHO_RETURN_IF_ERROR(SetRamp());
    // Without a bound: a rate, vLLM's client, and "inf".
    const bool unbounded =
        plan.OpenLoop() || endless || Bench() || (f_.num_prompts && f_.rate.empty());
    plan.concurrency = f_.concurrency ? static_cast<uint64_t>(*f_.concurrency) : unbounded ? 0 : 8;
    job_.identity.burstiness = plan.burstiness;
    job_.identity.ramp = plan.ramp;
    return {};
  }

  Result<void> SetRamp() {
    if (f_.ramp.empty()) {
      if (!f_.ramp_from.empty() || !f_.ramp_to.empty()) {
        return Usage("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy");
      }
      return {};
    }
    if (f_.ramp != "linear" && f_.ramp != "exponential") {
      return Usage(fmt::format("no --ramp-up-strategy '{}' (there are linear, exponential)",
                               VisibleText(f_.ramp)));
    }
    if (f_.ramp_from.empty() || f_.ramp_to.empty()) {
      return Usage("--ramp-up-strategy needs --ramp-up-start-rps and --ramp-up-end-rps");
    }
    if (job_.plan.rate) return Usage("a ramp and --rate do not go together");
    const auto from = Number("--ramp-up-start-rps", f_.ramp_from);
    const auto to = Number("--ramp-up-end-rps", f_.ramp_to);
    if (!from) return tl::unexpected<Error>(from.error());
    if (!to) return tl::unexpected<Error>(to.error());
    job_.plan.ramp =
        Ramp{f_.ramp == "linear" ? RampShape::kLinear : RampShape::kExponential, *from, *to, 0};
    return {};
  }

  Result<void> SetTimes() {
    job_.plan.grace_ns = kDefaultGraceNs;
    if (!f_.grace.empty()) {
      const auto grace = ParseDuration(f_.grace);
      if (!grace) return tl::unexpected<Error>(grace.error().WithContext("--grace"));
      job_.plan.grace_ns = grace->ns;
    }
    if (!f_.think.empty()) {
      const auto think = ParseDuration(f_.think);
      if (!think) return tl::unexpected<Error>(think.error().WithContext("--think"));
      job_.plan.think_ns = think->ns;
    }
    const auto set = [](const char* option, const std::string& text,
                        std::chrono::milliseconds& time) -> Result<void> {
      if (text.empty()) return {};
      const auto given = Milliseconds(option, text);
      if (!given) return tl::unexpected<Error>(given.error());
      time = *given;
      return {};
    };
    TACHO_RETURN_IF_ERROR(set("--timeout", f_.timeout, job_.target.timeout));
    TACHO_RETURN_IF_ERROR(set("--stall-timeout", f_.stall_timeout, job_.target.stall_timeout));
    TACHO_RETURN_IF_ERROR(set("--flush-timeout", f_.flush_timeout, job_.flush_timeout));
    TACHO_RETURN_IF_ERROR(set("--ready-check-timeout-sec", f_.ready_timeout, job_.ready_timeout));
    job_.warmups = static_cast<uint64_t>(f_.warmups.value_or(0));
    return {};
  }

  Result<void> SetReport() {
    for (const std::string& text : f_.goodput) {
      auto slos = ParseSlos(text);
      if (!slos) return tl::unexpected<Error>(slos.error().WithContext("--goodput"));
      job_.slos.insert(job_.slos.end(), slos->begin(), slos->end());
    }
    job_.metrics.goodput = !job_.slos.empty();
    job_.metrics.detailed = f_.save_detailed || !f_.vllm_json.empty();
    job_.target.keep_text = job_.metrics.detailed;
    if (!f_.percentile_metrics.empty()) {
      job_.metrics.names = SplitCommas(f_.percentile_metrics);
    } else if (Bench()) {
      job_.metrics.names = {"ttft", "tpot", "itl"};
    }
    if (!f_.metric_percentiles.empty()) {
      job_.metrics.percents.clear();
      for (const std::string& text : SplitCommas(f_.metric_percentiles)) {
        const auto percent = Number("--metric-percentiles", text);
        if (!percent) return tl::unexpected<Error>(percent.error());
        job_.metrics.percents.push_back(*percent);
      }
    }
    TACHO_RETURN_IF_ERROR(CheckBenchMetrics(job_.metrics));
    for (const std::string& pair : f_.metadata) {
      const size_t sign = pair.find('=');
      if (sign == std::string::npos || sign == 0) {
        return Usage(fmt::format("--metadata wants KEY=VALUE, not '{}'", VisibleText(pair)));
      }
      job_.identity.metadata.emplace_back(pair.substr(0, sign), pair.substr(sign + 1));
    }
    if (!f_.label.empty()) job_.identity.label = f_.label;
    if (!f_.ignored_value.empty()) job_.identity.tokenizer_id = f_.ignored_value;
    job_.drive.id_prefix = f_.request_id_prefix;
    return {};
  }

  Result<void> SetSweep() {
    if (f_.attain) job_.attain = *f_.attain;
    if (!(job_.attain > 0 && job_.attain <= 1)) return Usage("--attain wants a share up to 1");
    if (f_.sweep.empty()) return {};
    const size_t sign = f_.sweep.find('=');
    const std::string what = f_.sweep.substr(0, sign);
    if (what != "concurrency" && what != "rate") {
      return Usage(fmt::format("--sweep wants concurrency=LEVELS or rate=LEVELS, not '{}'",
                               VisibleText(f_.sweep)));
    }
    auto levels = ParseLevels(sign == std::string::npos ? "" : f_.sweep.substr(sign + 1));
    if (!levels) return tl::unexpected<Error>(levels.error().WithContext("--sweep"));
    if (job_.plan.OpenLoop()) return Usage("a sweep sets its own rates");
    if (!f_.records.empty() || !f_.plan.empty() || !f_.vllm_json.empty() ||
        !f_.result_filename.empty()) {
      return Usage(
          "a sweep has a result for each level, which --records, --plan, --vllm-json and "
          "--result-filename cannot name: take --save-result");
    }
    for (const double level : *levels) {
      if (what == "rate" || level == std::floor(level)) continue;
      return Usage(fmt::format("--sweep concurrency wants whole numbers, not {:g}", level));
    }
    job_.sweep = what == "rate" ? SweepOf::kRate : SweepOf::kConcurrency;
    job_.levels = std::move(*levels);
    return {};
  }

  const LoadFlags& f_;
  LoadJob job_;
};

}  // namespace

Result<LoadJob> LoadJobOf(const LoadFlags& flags) { return JobMaker(flags).Make(); }

}  // namespace tacho
