#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/key_options.h"
#include "cli/options/parse.h"
#include "cli/record/record_options.h"

namespace tacho {

// The arguments of `tacho load`. An option that `vllm bench serve` also has is named as there.
struct LoadFlags {
  std::vector<std::string> urls;  // positional
  std::string command;            // the command line, as written to a run folder
  // Where to send requests:
  std::vector<std::string> base_urls;
  std::string host, endpoint, backend, api, model, served_model_name, extra_body;
  std::optional<int64_t> port;
  std::vector<std::string> headers;
  ServerOptions server;
  bool no_streaming = false;
  // What to send:
  std::string scenario, mix, dataset, dataset_name, range_ratio;
  std::optional<int64_t> input_len, output_len, random_input_len, random_output_len,
      random_prefix_len, custom_output_len, sharegpt_output_len, prefix_len, suffix_len,
      num_prefixes, prefix_output_len, max_model_len, block_tokens;
  std::vector<std::string> lora_modules;
  std::string lora_assignment;
  std::optional<double> shared_prefix, time_unit_s;
  std::string label_timestamp, label_input, label_output, label_hash;
  bool strict = false, disable_shuffle = false, no_oversample = false, natural_length = false,
       ignore_eos = false;
  // When to send it:
  std::optional<int64_t> requests, num_prompts, concurrency, seed, warmups;
  std::string duration, grace, think, rate, burstiness, salt, ready_timeout, timeout, stall_timeout;
  std::string ramp, ramp_from, ramp_to;
  std::optional<double> replay_speed;
  bool replay = false, no_replay = false;
  // How the engine samples tokens:
  std::string temperature, top_p, top_k, min_p, frequency_penalty, presence_penalty,
      repetition_penalty, logprobs;
  // What to report:
  std::vector<std::string> goodput, metadata;
  std::string percentile_metrics, metric_percentiles, vllm_json, records, plan, label, result_dir,
      result_filename, request_id_prefix;
  bool json = false, save_result = false, save_detailed = false, append_result = false,
       no_progress = false, normal_priority = false;
  std::string color = "auto";
  // For a sweep of loads:
  std::string sweep;
  std::optional<double> attain;
  // Only with --profile:
  bool profile = false, whole_load = false;
  SessionArguments session;
  std::string flush_timeout;
  // Accepted, but without effect:
  bool ignored_flag = false;
  std::string ignored_value;

  // Whether the dataset is given by --dataset-name, as in vLLM's client. If so, the defaults of
  // other options are those of vLLM's client.
  bool LikeBench() const { return !dataset_name.empty(); }
};

CommandSpec LoadSpec(LoadFlags& flags);
std::vector<CommandSpec> LoadSpecs();

}  // namespace tacho
