#include "cli/load_foreign.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho {
namespace {

// A flag of vLLM's client, or all that begin with it ("--hf-"), and why it is none of tacho's. Some
// are of older versions.
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

}  // namespace

Result<bool> ParseLoadFlags(const std::vector<std::string>& arguments, LoadFlags& flags) {
  std::vector<std::string> own = arguments;
  for (std::string& word : own) {
    if (!word.starts_with("--")) continue;
    const auto end = std::find(word.begin(), word.end(), '=');
    std::replace(word.begin(), end, '_', '-');
    const std::string_view name(word.data(), static_cast<size_t>(end - word.begin()));
    for (const ForeignFlag& foreign : kForeign) {
      const bool all = foreign.name.ends_with('-');
      if (all ? !name.starts_with(foreign.name) : name != foreign.name) continue;
      return Fail(ErrorKind::kUsage, fmt::format("{} of vllm bench serve: {}", name, foreign.why));
    }
  }
  return ParseArguments(LoadSpec(flags), own);
}

}  // namespace tacho
