#include "control/live/prometheus.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/words.h"

namespace tacho {
namespace {

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
}

// Takes a quoted label value, and replaces its escapes \\, \" and \n.
std::optional<std::string> TakeQuoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      value += text[i] == 'n' ? '\n' : text[i];
    } else {
      value += text[i];
    }
  }
  return std::nullopt;
}

bool TakeLabels(std::string_view& text, std::map<std::string, std::string>& labels) {
  text.remove_prefix(1);
  while (true) {
    SkipBlanks(text);
    if (text.starts_with('}')) {
      text.remove_prefix(1);
      return true;
    }
    size_t equals = text.find('=');
    if (equals == std::string_view::npos) return false;
    std::string name(text.substr(0, equals));
    while (!name.empty() && name.back() == ' ') name.pop_back();
    text.remove_prefix(equals + 1);
    SkipBlanks(text);
    std::optional<std::string> value = TakeQuoted(text);
    if (!value) return false;
    labels[name] = *value;
    SkipBlanks(text);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
}

std::optional<MetricSample> ParseLine(std::string_view line) {
  SkipBlanks(line);
  if (line.empty() || line[0] == '#') return std::nullopt;
  MetricSample sample;
  size_t end = line.find_first_of("{ \t");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  sample.name = line.substr(0, end);
  line.remove_prefix(end);
  SkipBlanks(line);
  if (line.starts_with('{') && !TakeLabels(line, sample.labels)) return std::nullopt;
  SkipBlanks(line);
  if (line.starts_with('+')) line.remove_prefix(1);
  auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), sample.value);
  if (error != std::errc() || rest == line.data()) return std::nullopt;
  return sample;
}

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

std::vector<MetricSample> ParsePrometheus(std::string_view text) {
  std::vector<MetricSample> samples;
  while (!text.empty()) {
    if (std::optional<MetricSample> sample = ParseLine(TakeLine(text)))
      samples.push_back(std::move(*sample));
  }
  return samples;
}

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
