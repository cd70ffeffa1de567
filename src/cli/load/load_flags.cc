#include "cli/load/load_flags.h"

#include "cli/load/load_result_files.h"

namespace tacho {
namespace {

OptionGroup TargetRows(LoadFlags& f) {
  return {
      "target",
      {{"--base-url", "URL,...", "the same as URL", &f.base_urls, 0, false, Secret::kUrl},
       {"--host", "NAME", "with --port: the same as URL", &f.host, 0, false, Secret::kUrl},
       {"--port", "N", "with --host (default 127.0.0.1)", &f.port, 1},
       {"--model", "NAME", "that requests carry (default: the first of the server's /v1/models)",
        &f.model},
       {"--served-model-name", "NAME", "the same, where --model is a path", &f.served_model_name},
       OptionRow{"--api", "API", "completions (default), chat, or generate, SGLang's own", &f.api}
           .OneOf({"completions", "chat", "generate"}),
       {"--backend", "NAME", "the same by vLLM's names: vllm, openai, openai-chat, sglang",
        &f.backend},
       {"--endpoint", "ROUTE", "in place of the API's own, such as /v1/completions", &f.endpoint, 0,
        false, Secret::kUrl},
       {"--no-streaming", "", "whole answers: no times of tokens", &f.no_streaming},
       {"--header", "NAME=VALUE ...", "of each request to the servers that you name", &f.headers, 0,
        true, Secret::kHeader},
       {"--extra-body", "JSON", "fields to add to each request", &f.extra_body, 0, false,
        Secret::kJson}}};
}

OptionGroup WorkRows(LoadFlags& f) {
  return {
      "what to send (default: --mix chat=60,rag=30,code=10)",
      {{"--scenario", "NAME",
        "one of chat, rag, code, longchat, summarisation, reasoning, agent, rl-rollout",
        &f.scenario},
       {"--mix", "NAME=SHARE,...", "several of them", &f.mix},
       {"--input-len", "N", "tokens of each prompt, in place of the scenario's", &f.input_len, 1},
       {"--output-len", "N", "tokens of each output", &f.output_len, 1},
       {"--dataset,--dataset-path", "FILE",
        "ShareGPT JSON; JSON lines with prompt (vLLM's custom), messages, or timestamp, "
        "input_length, output_length, hash_ids (Mooncake); Azure or BurstGPT CSV",
        &f.dataset},
       {"--strict", "", "a broken line of the dataset ends it", &f.strict},
       {"--replay", "", "the dataset's requests at the dataset's times", &f.replay},
       {"--replay-speed", "X", "speed-up of the replay", &f.replay_speed},
       {"--shared-prefix", "SHARE", "this part (0 to 1) of each prompt is the same for all",
        &f.shared_prefix},
       {"--max-model-len", "N",
        "longer requests are cut to it, and counted (default: what the server says)",
        &f.max_model_len, 2},
       {"--natural-length", "", "outputs may end before their planned length", &f.natural_length},
       {"--seed", "N", "of lengths, times and prompts (default 0)", &f.seed},
       {"--salt", "N", "of prompts alone (default: fresh, so that no prefix cache is warm)",
        &f.salt}}};
}

OptionGroup TimeRows(LoadFlags& f) {
  return {
      "when to send it (default: --concurrency 8 for 30 s)",
      {{"--concurrency,--max-concurrency", "N", "maximum in-flight requests", &f.concurrency, 1},
       {"--rate,--request-rate", "R",
        "requests a second, whatever the server does; inf: all at once", &f.rate},
       {"--burstiness", "X", "of the rate: 1 Poisson, less is burstier, inf is even",
        &f.burstiness},
       OptionRow{"--ramp-up-strategy", "SHAPE", "linear or exponential, from one rate to another",
                 &f.ramp}
           .OneOf({"linear", "exponential"}),
       {"--ramp-up-start-rps", "R", "the first rate", &f.ramp_from},
       {"--ramp-up-end-rps", "R", "the last rate", &f.ramp_to},
       {"--think", "TIME", "with --concurrency: mean pause of each user between requests",
        &f.think},
       {"--requests", "N", "so many in all", &f.requests, 1},
       {"--num-prompts", "N",
        "the same; without --max-concurrency and --request-rate all at once, as vLLM's client",
        &f.num_prompts, 1},
       {"--duration", "TIME", "how long to send, such as 2m", &f.duration},
       {"--grace", "TIME", "how long requests in flight may then take (default 60s)", &f.grace},
       {"--num-warmups", "N", "requests before the load, which do not count", &f.warmups},
       {"--ready-check-timeout-sec", "TIME", "wait so long for the server to answer",
        &f.ready_timeout},
       {"--timeout", "TIME", "of one request (default 6h)", &f.timeout},
       {"--stall-timeout", "TIME", "of one request without a new token (default 10m)",
        &f.stall_timeout},
       {"--normal-priority", "",
        "for the thread that sends and reads (default: real-time, if permitted)",
        &f.normal_priority}}};
}

OptionGroup ReportRows(LoadFlags& f) {
  return {
      "report",
      {{"--json", "", "all figures as JSON, schema 1 (docs/load.md)", &f.json},
       {"--goodput,--slo", "NAME:MS ...",
        "bounds that good requests keep: ttft, tpot, e2el in ms or with a unit", &f.goodput, 0,
        true},
       {"--percentile-metrics", "NAME,...",
        "ttft, tpot, itl, e2el, client_queue_time, e2el_including_client_queue",
        &f.percentile_metrics},
       {"--metric-percentiles", "P,...", "percentiles (default 99)", &f.metric_percentiles},
       RecordsRow(f.records),
       {"--plan", "FILE", "what was decided before the first request was sent, as JSON", &f.plan},
       {"--vllm-json", "FILE", "the result file of vllm bench serve, with details", &f.vllm_json},
       {"--save-result", "", "the same, in --result-dir, under vLLM's name or --result-filename",
        &f.save_result},
       {"--save-detailed", "", "with the figures of each request", &f.save_detailed},
       {"--append-result", "", "append to that file", &f.append_result},
       {"--result-dir", "DIR", "where to, made if it is missing (default: here)", &f.result_dir},
       {"--result-filename", "NAME", "file name, instead of the generated one", &f.result_filename},
       {"--label", "NAME", "of the run, in that file and in its name", &f.label},
       {"--metadata", "KEY=VALUE ...", "to keep in that file", &f.metadata, 0, true},
       {"--request-id-prefix", "TEXT", "of X-Request-Id; an index follows", &f.request_id_prefix},
       OptionRow{"--color", "WHEN", "auto, always or never", &f.color}.OneOf(
           {"auto", "always", "never"}),
       {"--no-progress,--disable-tqdm", "", "no lines of progress on standard error",
        &f.no_progress}}};
}

OptionGroup SweepRows(LoadFlags& f) {
  return {
      "sweep",
      {{"--sweep", "WHAT=LEVELS",
        "one load a level, concurrency=1,2,4..256 or rate=1,2..32, until an SLO breaks", &f.sweep},
       {"--attain", "SHARE", "of the requests must keep the SLOs (default 0.95)", &f.attain}}};
}

OptionGroup ProfileRows(LoadFlags& f) {
  std::vector<OptionRow> rows = {
      {"--profile", "",
       "records the beginning of the load as tacho record does: all "
       "profilers from its first request on, for what the budget allows",
       &f.profile},
      {"--whole-load", "",
       "record the whole load, however large the traces (minutes of flush and "
       "gigabytes, of a long one)",
       &f.whole_load}};
  rows = With(std::move(rows), f.session.BudgetRows());
  return {"profile", With(With(std::move(rows), f.session.profile.Rows()),
                          With(f.session.TraceRows(),
                               {{"--flush-timeout", "TIME",
                                 "longest wait for a stop and its traces (default: as long as it "
                                 "takes)",
                                 &f.flush_timeout},
                                f.session.KeepGoingRow()}))};
}

OptionGroup SamplingRows(LoadFlags& f) {
  return {"sampling (default: the server's)",
          {{"--temperature", "X", "0 is greedy", &f.temperature},
           {"--top-p", "X", "sample from the likeliest tokens of this share", &f.top_p},
           {"--top-k", "N", "sample from the N likeliest tokens", &f.top_k},
           {"--min-p", "X", "at least this share of the likeliest one", &f.min_p},
           {"--frequency-penalty", "X", "for each time a token came", &f.frequency_penalty},
           {"--presence-penalty", "X", "for tokens that came", &f.presence_penalty},
           {"--repetition-penalty", "X", "for tokens that came or were asked with",
            &f.repetition_penalty},
           {"--logprobs", "N", "of the N likeliest tokens come back", &f.logprobs}}};
}

OptionGroup BenchRows(LoadFlags& f) {
  return {
      "the other flags of vllm bench serve",
      {{"--dataset-name", "NAME",
        "random, sharegpt, custom, burstgpt, timed_trace or prefix_repetition; with one of them "
        "vLLM's defaults hold: 1000 prompts, all at once, 1024 tokens in and 128 out",
        &f.dataset_name},
       {"--random-input-len", "N", "tokens of a prompt", &f.random_input_len, 1},
       {"--random-output-len", "N", "tokens of an output", &f.random_output_len, 1},
       {"--random-range-ratio", "R",
        "lengths from (1-R) to (1+R) times that; {\"input\": R, \"output\": R} for each its own",
        &f.range_ratio},
       {"--random-prefix-len", "N", "tokens in front that are the same for all",
        &f.random_prefix_len},
       {"--prefix-repetition-prefix-len", "N", "tokens that prompts share (256)", &f.prefix_len, 1},
       {"--prefix-repetition-suffix-len", "N", "tokens of their own (256)", &f.suffix_len, 1},
       {"--prefix-repetition-num-prefixes", "N", "different prefixes (10)", &f.num_prefixes, 1},
       {"--prefix-repetition-output-len", "N", "tokens of an output (128)", &f.prefix_output_len,
        1},
       {"--sharegpt-output-len", "N", "in place of the length of its answers",
        &f.sharegpt_output_len, 1},
       {"--custom-output-len", "N", "-1: as each line says", &f.custom_output_len, -1},
       {"--timed-trace-chunk-hash-size", "N", "tokens of a hash id", &f.block_tokens, 1},
       {"--timed-trace-sec-multiplier", "X", "seconds of a unit of time", &f.time_unit_s},
       {"--timed-trace-label-timestamp", "KEY", "its key in a line (timestamp)",
        &f.label_timestamp},
       {"--timed-trace-label-input-length", "KEY", "its key (input_length)", &f.label_input},
       {"--timed-trace-label-output-length", "KEY", "its key (output_length)", &f.label_output},
       {"--timed-trace-label-hash-ids", "KEY", "its key (hash_ids)", &f.label_hash},
       {"--disable-shuffle", "", "a dataset in its own order", &f.disable_shuffle},
       {"--no-oversample", "", "a dataset at most once", &f.no_oversample},
       {"--ignore-eos", "", "always so, but for --natural-length", &f.ignore_eos},
       {"--self-timed", "", "the same as --replay", &f.replay},
       {"--no-self-timed", "", "a timed_trace not at its own times", &f.no_replay},
       {"--lora-modules", "NAME ...", "each request asks one of these models", &f.lora_modules, 0,
        true},
       {"--lora-assignment", "HOW", "random (default) or round-robin", &f.lora_assignment},
       {"--tokenizer,--tokenizer-mode", "NAME", "not needed", &f.ignored_value},
       {"--skip-tokenizer-init,--trust-remote-code,--skip-chat-template,--no-stream", "",
        "not needed", &f.ignored_flag}}};
}

}  // namespace

CommandSpec LoadSpec(LoadFlags& flags) {
  CommandSpec spec;
  spec.name = "load";
  spec.summary = "drive a workload at an engine or a router, and measure what a user sees";
  spec.usage = "URL... [options]";
  spec.description =
      "URL is an engine (vLLM, SGLang) or a router; several are taken in turn. What will be sent, "
      "and when, is decided before the first request, by the seed. Prompts are token ids, so no "
      "tokenizer is needed. The flags of vllm bench serve are understood.";
  spec.positionals = &flags.urls;
  spec.command = &flags.command;
  spec.groups = {
      TargetRows(flags),  {"connection", flags.server.Rows("$TACHO_API_KEY, then $OPENAI_API_KEY")},
      WorkRows(flags),    TimeRows(flags),
      ReportRows(flags),  SweepRows(flags),
      ProfileRows(flags), BenchRows(flags),
      SamplingRows(flags)};
  spec.examples = {
      {"tacho load http://127.0.0.1:8000", "the default mix, 8 users, 30 s"},
      {"tacho load http://127.0.0.1:8000 --rate 5 --duration 2m --slo ttft:500 tpot:50",
       "5 requests a second as a Poisson process, and how many kept both bounds"},
      {"tacho load http://127.0.0.1:8000 --sweep concurrency=1,2,4..256 --slo ttft:1s",
       "how much one more user costs, and where the knee is"},
      {"tacho load --base-url http://127.0.0.1:8000 --dataset-name random --num-prompts 200 "
       "--save-result",
       "as vllm bench serve"},
      {"tacho load http://127.0.0.1:8000 --requests 64 --profile --steps 20",
       "the load, and the traces of its first 20 engine steps"},
      {"tacho load http://router:30000 --dataset conversation_trace.jsonl --replay",
       "a recorded trace, at its own times"},
  };
  return spec;
}

std::vector<CommandSpec> LoadSpecs() {
  LoadFlags flags;
  return {LoadSpec(flags)};
}

}  // namespace tacho
