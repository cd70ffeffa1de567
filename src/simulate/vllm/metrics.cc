#include <fmt/format.h>

#include "simulate/engine/metrics_text.h"
#include "simulate/vllm/server.h"

namespace tacho::simulate {

// Long: each metric takes a line.
std::string VllmMetrics(const std::vector<const Engine*>& engines,
                        const std::vector<const PrefixCache*>& prefixes, const std::string& model,
                        const VllmVersion& version, int64_t sleep_level) {
  MetricsText text;
  const auto labels = [&](size_t i) {
    return fmt::format("engine=\"{}\",model_name=\"{}\"", i, model);
  };
  const auto each = [&](auto&& one) {
    for (size_t i = 0; i < engines.size(); ++i) one(*engines[i], labels(i), i);
  };
  const auto gauge = [&](const char* name, const char* help, auto value) {
    each([&](const Engine& e, const std::string& l, size_t) {
      text.Gauge(name, help, l, static_cast<double>(value(e)));
    });
  };
  const auto counter = [&](const char* name, const char* help, auto value) {
    each([&](const Engine& e, const std::string& l, size_t) {
      text.Counter(name, help, l, static_cast<double>(value(e.stats())));
    });
  };
  const auto spread = [&](const char* name, const char* help, Histogram EngineStats::*which) {
    each([&](const Engine& e, const std::string& l, size_t) {
      text.Distribution(name, help, l, e.stats().*which);
    });
  };
  gauge("vllm:num_requests_running", "Number of requests in model execution batches.",
        [](const Engine& e) { return e.batcher().running(); });
  gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.",
        [](const Engine& e) { return e.batcher().waiting(); });
  if (version.generation == VllmGeneration::kLive) {
    for (const char* reason : {"capacity", "deferred"}) {
      each([&](const Engine& e, const std::string& l, size_t) {
        const bool capacity = std::string_view(reason) == "capacity";
        text.Gauge("vllm:num_requests_waiting_by_reason", "Number of waiting requests by reason.",
                   fmt::format("{},reason=\"{}\"", l, reason),
                   capacity ? static_cast<double>(e.batcher().waiting()) : 0);
      });
    }
    for (const char* state : {"awake", "weights_offloaded", "discard_all"}) {
      each([&](const Engine&, const std::string& l, size_t) {
        const int64_t level = std::string_view(state) == "awake"               ? 0
                              : std::string_view(state) == "weights_offloaded" ? 1
                                                                               : 2;
        text.Gauge("vllm:engine_sleep_state", "Engine sleep state.",
                   fmt::format("{},sleep_state=\"{}\"", l, state), sleep_level == level ? 1 : 0);
      });
    }
  }
  gauge(version.minor <= 10 ? "vllm:gpu_cache_usage_perc" : "vllm:kv_cache_usage_perc",
        "KV-cache usage. 1 means 100 percent usage.", [](const Engine& e) {
          return static_cast<double>(e.batcher().cache_tokens_used()) /
                 static_cast<double>(e.batcher().limits().cache_tokens);
        });
  each([&](const Engine&, const std::string& l, size_t i) {
    text.Counter("vllm:prefix_cache_queries", "Prefix cache queries, in tokens.", l,
                 static_cast<double>(prefixes[i]->queries()));
  });
  each([&](const Engine&, const std::string& l, size_t i) {
    text.Counter("vllm:prefix_cache_hits", "Prefix cache hits, in tokens.", l,
                 static_cast<double>(prefixes[i]->hits()));
  });
  counter("vllm:num_preemptions", "Cumulative number of preemptions.",
          [](const EngineStats&) { return 0; });
  counter("vllm:prompt_tokens", "Number of prefill tokens processed.",
          [](const EngineStats& s) { return s.prompt_tokens; });
  counter("vllm:prompt_tokens_cached", "Number of cached prompt tokens.",
          [](const EngineStats& s) { return s.cached_tokens; });
  counter("vllm:generation_tokens", "Number of generation tokens processed.",
          [](const EngineStats& s) { return s.generation_tokens; });
  if (!engines.empty() && engines[0]->batcher().limits().proposed > 0) {
    counter("vllm:spec_decode_num_drafts", "Number of spec decoding drafts.",
            [](const EngineStats& s) { return s.drafts; });
    counter("vllm:spec_decode_num_draft_tokens", "Number of draft tokens.",
            [](const EngineStats& s) { return s.draft_tokens; });
    counter("vllm:spec_decode_num_accepted_tokens", "Number of accepted tokens.",
            [](const EngineStats& s) { return s.accepted_tokens; });
  }
  static constexpr const char* kReasons[] = {"stop", "length", "abort", "error", "repetition"};
  for (size_t reason = 0; reason < std::size(kReasons); ++reason) {
    each([&](const Engine& e, const std::string& l, size_t) {
      text.Counter("vllm:request_success", "Count of successfully processed requests.",
                   fmt::format("{},finished_reason=\"{}\"", l, kReasons[reason]),
                   static_cast<double>(e.stats().finished[reason]));
    });
  }
  spread("vllm:iteration_tokens_total", "Histogram of number of tokens per engine_step.",
         &EngineStats::step_tokens);
  spread("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
         &EngineStats::first_token_s);
  spread(version.minor <= 10 ? "vllm:time_per_output_token_seconds"
                             : "vllm:inter_token_latency_seconds",
         "Histogram of inter-token latency in seconds.", &EngineStats::inter_token_s);
  spread("vllm:request_time_per_output_token_seconds",
         "Histogram of time_per_output_token_seconds per request.",
         &EngineStats::per_output_token_s);
  spread("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.",
         &EngineStats::e2e_s);
  spread("vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase.",
         &EngineStats::queue_s);
  spread("vllm:request_inference_time_seconds", "Histogram of time spent in RUNNING phase.",
         &EngineStats::inference_s);
  spread("vllm:request_prefill_time_seconds", "Histogram of time spent in PREFILL phase.",
         &EngineStats::prefill_s);
  spread("vllm:request_decode_time_seconds", "Histogram of time spent in DECODE phase.",
         &EngineStats::decode_s);
  spread("vllm:request_prompt_tokens", "Number of prefill tokens processed.",
         &EngineStats::request_prompt_tokens);
  spread("vllm:request_generation_tokens", "Number of generation tokens processed.",
         &EngineStats::request_generation_tokens);
  return std::move(text).Finish();
}

}  // namespace tacho::simulate
