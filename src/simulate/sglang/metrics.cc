#include <fmt/format.h>

#include "simulate/engine/metrics_text.h"
#include "simulate/sglang/server.h"

namespace tacho::simulate {

// Long: each metric takes a line.
std::string SglangMetrics(const std::vector<const Engine*>& engines,
                          const std::vector<const PrefixCache*>& prefixes, const std::string& model,
                          const SglangServer::Counts& counts) {
  MetricsText text;
  // Metrics of the schedulers are labelled with their ranks. Those of the tokenizer's process are
  // not; some of them say whether the answer was streamed.
  const auto scheduler = [&](size_t i) {
    const std::string dp = engines.size() > 1 ? fmt::format("dp_rank=\"{}\",", i) : "";
    return fmt::format(
        "{}engine_type=\"unified\",model_name=\"{}\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"",
        dp, model);
  };
  const std::string plain = fmt::format("engine_type=\"unified\",model_name=\"{}\"", model);
  const std::string streaming =
      fmt::format("engine_type=\"unified\",is_streaming=\"true\",model_name=\"{}\"", model);
  const auto gauge = [&](const char* name, const char* help, auto value) {
    for (size_t i = 0; i < engines.size(); ++i) {
      text.Gauge(name, help, scheduler(i), static_cast<double>(value(i)));
    }
  };
  const auto sum = [&](auto value) {
    double total = 0;
    for (const Engine* engine : engines) total += static_cast<double>(value(engine->stats()));
    return total;
  };
  gauge("sglang:num_running_reqs", "The number of running requests.",
        [&](size_t i) { return engines[i]->batcher().running(); });
  gauge("sglang:num_queue_reqs", "The number of requests in the waiting queue.",
        [&](size_t i) { return engines[i]->batcher().waiting(); });
  gauge("sglang:num_used_tokens", "The number of used tokens.",
        [&](size_t i) { return engines[i]->batcher().cache_tokens_used(); });
  gauge("sglang:kv_used_tokens", "The number of used tokens of the cache.",
        [&](size_t i) { return engines[i]->batcher().cache_tokens_used(); });
  gauge("sglang:token_usage", "The token usage.", [&](size_t i) {
    return static_cast<double>(engines[i]->batcher().cache_tokens_used()) /
           static_cast<double>(engines[i]->batcher().limits().cache_tokens);
  });
  gauge("sglang:gen_throughput", "The generation throughput (token/s).",
        [&](size_t i) { return engines[i]->stats().last_generation_tokens_s; });
  gauge("sglang:spec_accept_length", "The average acceptance length of speculative decoding.",
        [&](size_t i) { return engines[i]->stats().accept_length; });
  gauge("sglang:cache_hit_rate", "The prefix cache hit rate.", [&](size_t i) {
    return prefixes[i]->queries() == 0 ? 0.0
                                       : static_cast<double>(prefixes[i]->hits()) /
                                             static_cast<double>(prefixes[i]->queries());
  });
  for (size_t i = 0; i < engines.size(); ++i) {
    const EngineStats& stats = engines[i]->stats();
    const std::pair<const char*, uint64_t> modes[] = {
        {"prefill_compute", stats.prompt_tokens - stats.cached_tokens},
        {"prefill_cache", stats.cached_tokens},
        {"decode", stats.generation_tokens}};
    for (const auto& [mode, tokens] : modes) {
      text.Counter("sglang:realtime_tokens", "Tokens processed, by mode.",
                   scheduler(i) + fmt::format(",mode=\"{}\"", mode), static_cast<double>(tokens));
    }
  }
  for (size_t i = 0; i < engines.size(); ++i) {
    text.Counter("sglang:cuda_graph_passes", "Forward passes, by whether a graph was replayed.",
                 scheduler(i) + ",mode=\"decode_cuda_graph\"",
                 static_cast<double>(engines[i]->stats().steps));
  }
  text.Counter("sglang:prompt_tokens", "Number of prefill tokens processed.", streaming,
               sum([](const EngineStats& s) { return s.prompt_tokens; }));
  text.Counter("sglang:generation_tokens", "Number of generation tokens processed.", streaming,
               sum([](const EngineStats& s) { return s.generation_tokens; }));
  text.Counter("sglang:num_requests", "Number of requests processed.", streaming,
               static_cast<double>(counts.answers));
  // The first engine's histograms stand for all, because these metrics have no label for an engine.
  const EngineStats& stats = engines[0]->stats();
  text.Distribution("sglang:time_to_first_token_seconds", "Histogram of time to first token.",
                    streaming, stats.first_token_s);
  text.Distribution("sglang:inter_token_latency_seconds", "Histogram of inter-token latency.",
                    plain, stats.inter_token_s);
  text.Distribution("sglang:e2e_request_latency_seconds", "Histogram of end-to-end latency.",
                    streaming, stats.e2e_s);
  text.Distribution("sglang:request_time_per_output_token_seconds",
                    "Histogram of time per output token of requests.", streaming,
                    stats.per_output_token_s);
  text.Distribution("sglang:queue_time_seconds", "Histogram of queueing time.", scheduler(0),
                    stats.queue_s);
  for (const auto& [key, count] : counts.requests) {
    text.Counter("sglang:http_requests", "Total number of HTTP requests.",
                 fmt::format("endpoint=\"{}\",method=\"{}\"", key.first, key.second),
                 static_cast<double>(count));
  }
  for (const auto& [key, count] : counts.responses) {
    text.Counter(
        "sglang:http_responses", "Total number of HTTP responses.",
        fmt::format("endpoint=\"{}\",method=\"{}\",status_code=\"200\"", key.first, key.second),
        static_cast<double>(count));
  }
  return std::move(text).Finish();
}

}  // namespace tacho::simulate
