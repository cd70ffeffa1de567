#include "cli/load/load_foreign.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho {
namespace {

// A flag of `vllm bench serve` that tacho lacks, and why tacho lacks it. `name` may be the
// beginning of several flags ("--hf-"). Some of the flags exist only in older versions of vLLM.
struct ForeignFlag {
  std::string_view name;
  std::string_view why;
};

constexpr std::string_view kDownloads =
    "tacho downloads no datasets: write their prompts as JSON lines {\"prompt\", "
    "\"output_tokens\"} "
    "and give --dataset FILE";
constexpr std::string_view kMedia =
    "tacho sends text alone; messages with media can be given as JSON lines {\"messages\"} by "
    "--api chat --dataset FILE";
constexpr std::string_view kPooling =
    "tacho measures answers that are generated, no embeddings, pooling or ranking";
constexpr std::string_view kPlots =
    "tacho draws no pictures of a load: --records FILE has all times of each request, --plan FILE "
    "all lengths";

constexpr ForeignFlag kForeign[] = {
    {"--asr-", kMedia},
    {"--bfcl-", kDownloads},
    {"--blazedit-", kDownloads},
    {"--chat-template-kwargs",
     "tacho renders no chat template: the server does, with --api chat --extra-body "
     "'{\"chat_template_kwargs\":{...}}'"},
    {"--custom-ensure-client-side-data", kMedia},
    {"--enable-multimodal-chat", kMedia},
    {"--hf-", kDownloads},
    {"--no-reranker", kPooling},
    {"--plot-", kPlots},
    {"--probe-request-rate",
     "tacho sends one workload: run a second one beside it, tacho load URL --rate R --input-len 8 "
     "--output-len 1"},
    {"--random-batch-size", kPooling},
    {"--random-mm-", kMedia},
    {"--sonnet-",
     "vLLM has no sonnet dataset any more, and tacho none: --input-len, --output-len and "
     "--shared-prefix give prompts of these lengths"},
    {"--spec-bench-", kDownloads},
    {"--speed-bench-", kDownloads},
    {"--timeline-itl-thresholds", kPlots},
    {"--use-beam-search",
     "the tokens of a beam search have no times of their own; --no-streaming --extra-body "
     "'{\"use_beam_search\":true,\"n\":4}' asks for it and measures whole answers"},
};

// All flags of `vllm bench serve` in vLLM 0.32 (tests/data/vllm_bench_flags.json).
constexpr std::string_view kVllmFlags[] = {
    "--append-result",
    "--asr-max-audio-len-sec",
    "--asr-min-audio-len-sec",
    "--backend",
    "--base-url",
    "--bfcl-categories",
    "--blazedit-max-distance",
    "--blazedit-min-distance",
    "--burstiness",
    "--chat-template-kwargs",
    "--custom-ensure-client-side-data",
    "--custom-output-len",
    "--dataset-name",
    "--dataset-path",
    "--disable-shuffle",
    "--disable-tqdm",
    "--enable-multimodal-chat",
    "--endpoint",
    "--extra-body",
    "--frequency-penalty",
    "--goodput",
    "--header",
    "--hf-name",
    "--hf-output-len",
    "--hf-split",
    "--hf-subset",
    "--host",
    "--ignore-eos",
    "--input-len",
    "--insecure",
    "--label",
    "--logprobs",
    "--lora-assignment",
    "--lora-modules",
    "--max-concurrency",
    "--metadata",
    "--metric-percentiles",
    "--min-p",
    "--model",
    "--no-oversample",
    "--no-reranker",
    "--no-self-timed",
    "--no-stream",
    "--num-prompts",
    "--num-warmups",
    "--output-len",
    "--percentile-metrics",
    "--plot-dataset-stats",
    "--plot-timeline",
    "--port",
    "--prefix-repetition-num-prefixes",
    "--prefix-repetition-output-len",
    "--prefix-repetition-prefix-len",
    "--prefix-repetition-suffix-len",
    "--presence-penalty",
    "--probe-request-rate",
    "--profile",
    "--ramp-up-end-rps",
    "--ramp-up-start-rps",
    "--ramp-up-strategy",
    "--random-batch-size",
    "--random-input-len",
    "--random-mm-base-items-per-request",
    "--random-mm-bucket-config",
    "--random-mm-limit-mm-per-prompt",
    "--random-mm-num-mm-items-range-ratio",
    "--random-output-len",
    "--random-prefix-len",
    "--random-range-ratio",
    "--ready-check-timeout-sec",
    "--repetition-penalty",
    "--request-id-prefix",
    "--request-rate",
    "--result-dir",
    "--result-filename",
    "--save-detailed",
    "--save-result",
    "--seed",
    "--self-timed",
    "--served-model-name",
    "--sharegpt-output-len",
    "--skip-chat-template",
    "--skip-tokenizer-init",
    "--spec-bench-category",
    "--spec-bench-output-len",
    "--speed-bench-category",
    "--speed-bench-dataset-subset",
    "--speed-bench-output-len",
    "--temperature",
    "--timed-trace-chunk-hash-size",
    "--timed-trace-label-hash-ids",
    "--timed-trace-label-input-length",
    "--timed-trace-label-output-length",
    "--timed-trace-label-timestamp",
    "--timed-trace-sec-multiplier",
    "--timeline-itl-thresholds",
    "--tokenizer",
    "--tokenizer-mode",
    "--top-k",
    "--top-p",
    "--trust-remote-code",
    "--use-beam-search",
};

// The options that begin with `begun` and that only tacho has.
std::vector<std::string> OwnOptions(const CommandSpec& spec, std::string_view begun) {
  std::vector<std::string> own;
  for (const OptionGroup& group : spec.groups)
    for (const OptionRow& row : group.options)
      for (std::string& name : row.Names())
        if (name.starts_with(begun) && std::ranges::find(kVllmFlags, name) == std::end(kVllmFlags))
          own.push_back(std::move(name));
  return own;
}

// vLLM's parser (Python's argparse) accepts a unique prefix of a flag. Returns the whole flag, or
// `name` if no flag begins with it. kUsage: several flags begin with it.
Result<std::string_view> WholeVllmFlag(const CommandSpec& spec, std::string_view name) {
  std::vector<std::string_view> all;
  for (const std::string_view flag : kVllmFlags) {
    if (flag == name) return flag;
    if (flag.starts_with(name)) all.push_back(flag);
  }
  if (all.empty()) return name;
  if (all.size() == 1) return all.front();
  const std::vector<std::string> own = OwnOptions(spec, name);
  return Fail(ErrorKind::kUsage,
              own.empty() ? fmt::format("{} could be any of vllm bench serve's {}", name,
                                        fmt::join(all, ", "))
                          : fmt::format("{} could be {}, or of vllm bench serve's {}", name,
                                        fmt::join(own, ", "), fmt::join(all, ", ")));
}

bool HasOption(const CommandSpec& spec, std::string_view name) {
  for (const OptionGroup& group : spec.groups)
    for (const OptionRow& row : group.options) {
      const std::vector<std::string> names = row.Names();
      if (std::ranges::find(names, name) != names.end()) return true;
    }
  return false;
}

}  // namespace

Result<bool> ParseLoadFlags(const std::vector<std::string>& arguments, LoadFlags& flags) {
  std::vector<std::string> own = arguments;
  const CommandSpec spec = LoadSpec(flags);
  for (std::string& word : own) {
    if (word.size() < 3 || !word.starts_with("--")) continue;
    const auto end = std::find(word.begin(), word.end(), '=');
    std::replace(word.begin(), end, '_', '-');
    const std::string given(word.begin(), end);
    std::string_view name = given;
    if (!HasOption(spec, name) && name != "--help") {
      TACHO_ASSIGN_OR_RETURN(name, WholeVllmFlag(spec, name));
      word.replace(0, given.size(), name);
    }
    for (const ForeignFlag& foreign : kForeign) {
      const bool all = foreign.name.ends_with('-');
      if (all ? !name.starts_with(foreign.name) : name != foreign.name) continue;
      return Fail(ErrorKind::kUsage, fmt::format("{} of vllm bench serve: {}", name, foreign.why));
    }
  }
  return ParseArguments(spec, own);
}

}  // namespace tacho
