#include "control/live/prometheus.h"

#include <array>
#include <optional>

namespace tacho {
namespace {

// Maps a metric to one of an engine's counters. A metric that ends in '*' stands for all metrics
// with that prefix.
struct Meaning {
  std::string_view metric;
  std::optional<double> EngineCounters::*counter;
  std::string_view engine_label;
};
// vLLM: each iteration that had tokens adds one observation to the histogram
// vllm:iteration_tokens_total. SGLang counts forward passes by mode. Older versions count only
// decode passes: such counts can compare windows, but are not numbers of steps.
constexpr std::array kMeanings{
    Meaning{"vllm:iteration_tokens_total_count", &EngineCounters::steps, "engine"},
    Meaning{"vllm:prompt_tokens_total", &EngineCounters::prompt_tokens, "engine"},
    Meaning{"vllm:generation_tokens_total", &EngineCounters::generation_tokens, "engine"},
    Meaning{"vllm:num_requests_running", &EngineCounters::running, "engine"},
    Meaning{"vllm:num_requests_waiting", &EngineCounters::waiting, "engine"},
    Meaning{"vllm:kv_cache_usage_perc", &EngineCounters::kv_cache_share, "engine"},
    Meaning{"vllm:gpu_cache_usage_perc", &EngineCounters::kv_cache_share, "engine"},
    Meaning{"sglang:cuda_graph_passes_total", &EngineCounters::passes, "dp_rank"},
    Meaning{"sglang:prompt_tokens_total", &EngineCounters::prompt_tokens, "dp_rank"},
    Meaning{"sglang:generation_tokens_total", &EngineCounters::generation_tokens, "dp_rank"},
    Meaning{"sglang:num_running_reqs", &EngineCounters::running, "dp_rank"},
    Meaning{"sglang:num_queue_reqs", &EngineCounters::waiting, "dp_rank"},
    Meaning{"sglang:token_usage", &EngineCounters::kv_cache_share, "dp_rank"},
};

}  // namespace

std::vector<EngineCounters> CountersIn(const std::vector<MetricSample>& samples) {
  std::map<std::string, EngineCounters> engines;
  for (const MetricSample& sample : samples) {
    for (const Meaning& meaning : kMeanings) {
      if (sample.name != meaning.metric) continue;
      auto label = sample.labels.find(std::string(meaning.engine_label));
      std::string engine = label == sample.labels.end() ? "0" : label->second;
      EngineCounters& counters = engines[engine];
      counters.engine = engine;
      // SGLang repeats some values for each tensor-parallel rank. Only those of rank 0 count.
      auto tp = sample.labels.find("tp_rank");
      if (tp != sample.labels.end() && tp->second != "0") continue;
      std::optional<double>& value = counters.*meaning.counter;
      value = value.value_or(0) + sample.value;
    }
  }
  std::vector<EngineCounters> rows;
  for (auto& [name, counters] : engines) rows.push_back(std::move(counters));
  return rows;
}

}  // namespace tacho
