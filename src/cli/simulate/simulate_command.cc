#include "cli/simulate/simulate_command.h"

#include <fmt/format.h>
#include <time.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/json_text.h"
#include "base/parse_number.h"
#include "cli/exit_status.h"
#include "cli/options/load_argument.h"
#include "cli/screen/output.h"
#include "cli/simulate/simulate_processes.h"
#include "cli/simulate/simulate_trace.h"
#include "simulate/simulation.h"
#include "simulate/vllm/profiler.h"

namespace tacho {
namespace {

using namespace simulate;

struct SimulateOptions {
  std::string engine = "vllm", router = "none", model_size = "small", hardware = "h100";
  std::optional<std::string> version, model, profiler_config, trace_folder, temp_folder, log, time;
  std::string host = "127.0.0.1", speed = "1", profiler_slowdown = "0", acceptance = "60%";
  std::optional<int64_t> count, tp, dp, port, worker_port, seed, random_fault, max_num_seqs,
      max_num_batched_tokens, max_model_len, stream_interval, gzip_level, proposed;
  std::vector<std::string> faults;
  bool router_per_rank = false, whole_prompts = false, no_prefix_cache = false, dev_mode = false,
       echo_ids = false, log_iterations = false, log_requests = false, truth = false, json = false;
};

// Long: a row for each option.
CommandSpec SimulateSpec(SimulateOptions& o) {
  CommandSpec spec;
  spec.name = "simulate";
  spec.summary = "engines and a router without a GPU, speaking the real protocols";
  spec.usage = "[options], or: trace -o DIR [options]";
  spec.description =
      "Starts simulated inference servers in this process: HTTP interfaces, continuous batching in "
      "real time, profilers and their Kineto traces are those of the real engines; the work is a "
      "cost model. Prints the addresses and runs until Ctrl-C or SIGTERM. With KINETO_USE_DAEMON=1 "
      "in "
      "the environment each server and rank is a process of its own that asks Kineto's daemon for "
      "traces to take, as one with PyTorch does.";
  std::string kinds;
  for (const FaultRow& row : FaultRows()) {
    kinds += kinds.empty() ? "" : ", ";
    kinds += row.name;
  }
  spec.groups = {
      {"what to simulate",
       {OptionRow{"--engine", "NAME",
                  "vllm, sglang, tensorrt-llm, tokenspeed, dynamo-vllm or dynamo-sglang (default "
                  "vllm)",
                  &o.engine}
            .OneOf(
                {"vllm", "sglang", "tensorrt-llm", "tokenspeed", "dynamo-vllm", "dynamo-sglang"}),
        {"--engine-version", "V", "vLLM 0.10, 0.13, 0.32, 0.33 (default 0.32); SGLang 0.5.23",
         &o.version},
        {"--count", "N", "servers (default 1)", &o.count, 1},
        {"--tp", "N", "tensor-parallel ranks of each engine (default 1)", &o.tp, 1},
        {"--dp", "N", "data-parallel engines of each server (default 1)", &o.dp, 1},
        OptionRow{
            "--router", "NAME",
            "vllm, sglang, smg (its workers speak HTTP), smg-grpc, smg-zmq, dynamo (its front "
            "end) or none (default none)",
            &o.router}
            .OneOf({"vllm", "sglang", "smg", "smg-grpc", "smg-zmq", "dynamo", "none"}),
        {"--router-per-rank", "", "the router lists each data-parallel rank: URL@RANK",
         &o.router_per_rank},
        OptionRow{"--model-size", "NAME",
                  "tiny, small, 8b, 32b, 70b, 30b-a3b or 14b-a3b (default small)", &o.model_size}
            .OneOf(NamesOf(ModelShapes())),
        {"--model", "NAME", "the name the model is served under (default: its checkpoint)",
         &o.model},
        OptionRow{"--hardware", "NAME", "h100, h200, b200, a100 or l4 (default h100)", &o.hardware}
            .OneOf(NamesOf(HardwarePresets())),
        {"--speed", "X", "everything takes 1/X of its time (default 1)", &o.speed},
        {"--seed", "N", "other times, the same for the same number (default 1)", &o.seed}}},
      {"the engine's own settings",
       {{"--max-num-seqs", "N", "requests in a batch (default 256)", &o.max_num_seqs, 1},
        {"--max-num-batched-tokens", "N", "new tokens of a step (default 8192)",
         &o.max_num_batched_tokens, 1},
        {"--max-model-len", "N", "longest prompt and answer (default 32768)", &o.max_model_len, 2},
        {"--no-chunked-prefill", "", "prompts are read as a whole", &o.whole_prompts},
        {"--speculative", "N",
         "decode steps verify N tokens that a draft model proposed for each request; one in four "
         "stays plain",
         &o.proposed, 1},
        {"--acceptance", "PERCENT",
         "probability that a proposed token is accepted after those before it (default 60%)",
         &o.acceptance},
        {"--no-prefix-caching", "", "each prompt is read anew", &o.no_prefix_cache},
        {"--stream-interval", "N", "tokens in an event of a stream (default 1)", &o.stream_interval,
         1},
        {"--dev-mode", "", "vLLM's VLLM_SERVER_DEV_MODE=1", &o.dev_mode},
        {"--enable-request-id-headers", "", "X-Request-Id comes back", &o.echo_ids},
        {"--enable-log-requests", "", "a log line for each request", &o.log_requests},
        {"--enable-logging-iteration-details", "", "a log line for each step", &o.log_iterations}}},
      {"profiles",
       {{"--trace-dir", "DIR", "where traces go (default simulated-traces)", &o.trace_folder},
        {"--profiler-config", "JSON",
         "vLLM's own; {} for none (default: torch, plain JSON "
         "without stacks into --trace-dir)",
         &o.profiler_config},
        {"--tmp-dir", "DIR", "where traces are before gzip (default TMPDIR or /tmp)",
         &o.temp_folder},
        {"--gzip-level", "N", "0 to 9 (default 1; the engines use 9)", &o.gzip_level},
        {"--profiler-slowdown", "PERCENT",
         "each step takes so much longer while it is profiled: 8% (default 0)",
         &o.profiler_slowdown},
        {"--truth", "", "beside each trace, what was put in: TRACE.truth.json", &o.truth}}},
      {"what goes wrong",
       {{"--fault", "KIND[@WORKER][:ARG]", "may be given several times: " + kinds, &o.faults},
        {"--random-fault", "SEED", "one fault of any kind for one worker", &o.random_fault}}},
      {"how",
       {{"--host", "IP", "address to listen on (default 127.0.0.1)", &o.host},
        {"--port", "N", "of the router, else of the first server (default 0: a free one)", &o.port},
        {"--worker-port", "N", "of the first server behind a router; the others follow",
         &o.worker_port},
        {"--log", "FILE", "the lines that the real programs log", &o.log},
        {"--for", "TIME", "ends after that time: 60s, 5m", &o.time},
        {"--json", "", "the addresses as JSON, on one line", &o.json}}},
  };
  spec.examples = {
      {"tacho simulate --count 2 --router vllm", "two vLLM servers behind a vllm-router"},
      {"tacho simulate --engine sglang --tp 2 --truth",
       "an SGLang server of two ranks whose traces come with what is in them"},
      {"tacho simulate --count 4 --fault hang-stop@1 --fault lose-rank@2:0",
       "four servers; the profiler of one hangs, another loses a trace"},
      {"tacho simulate trace --help", "traces at once, without servers, with known changes"},
  };
  return spec;
}

tl::unexpected<Error> Refuse(const std::string& problem) {
  return Fail(ErrorKind::kUsage, problem + "; see 'tacho simulate --help'");
}

// The default profiler configuration of a vLLM server: plain JSON without stacks, if the version
// supports that.
std::string DefaultProfilerConfig(const std::string& version, const std::string& folder) {
  const auto parsed = ParseVllmVersion(version);
  const int minor = parsed ? parsed->minor : 0;
  std::string config =
      fmt::format(R"({{"profiler":"torch","torch_profiler_dir":{})", QuoteJson(folder));
  if (minor >= 11) config += R"(,"torch_profiler_with_stack":false)";
  if (minor >= 12) config += R"(,"torch_profiler_use_gzip":false,"ignore_frontend":true)";
  return config + "}";
}

Result<void> FillFaults(const SimulateOptions& o, SimulationOptions& out) {
  std::vector<Fault> faults;
  for (const std::string& text : o.faults) {
    TACHO_ASSIGN_OR_RETURN(const auto fault, ParseFault(text));
    faults.push_back(fault);
  }
  if (o.random_fault) {
    faults.push_back(RandomFault(static_cast<uint64_t>(*o.random_fault), out.count));
    Complain("simulate: fault " + TextOf(faults.back()));
  }
  out.worker.faults = Faults(std::move(faults));
  return {};
}

simulate::HostKind HostOf(const std::string& engine) {
  if (engine == "tensorrt-llm") return simulate::HostKind::kTensorRtLlm;
  if (engine == "tokenspeed") return simulate::HostKind::kTokenSpeed;
  return engine.starts_with("dynamo-") ? simulate::HostKind::kDynamo : simulate::HostKind::kNone;
}

simulate::RouterKind RouterOf(const std::string& name) {
  using simulate::RouterKind;
  if (name == "vllm") return RouterKind::kVllm;
  if (name == "sglang") return RouterKind::kSglang;
  if (name == "smg") return RouterKind::kSmg;
  if (name == "smg-grpc") return RouterKind::kSmgGrpc;
  if (name == "smg-zmq") return RouterKind::kSmgZmq;
  return name == "dynamo" ? RouterKind::kDynamo : RouterKind::kNone;
}

// Long: a line for each option.
Result<SimulationOptions> OptionsOf(const SimulateOptions& o) {
  SimulationOptions out;
  WorkerOptions& worker = out.worker;
  worker.kind = o.engine == "vllm" || o.engine == "dynamo-vllm" ? SimulatedEngine::kVllm
                                                                : SimulatedEngine::kSglang;
  worker.host = HostOf(o.engine);
  const bool vllm = worker.kind == SimulatedEngine::kVllm;
  worker.version = o.version.value_or(vllm ? "0.32.0" : "0.5.23");
  out.router = RouterOf(o.router);
  TACHO_ASSIGN_OR_RETURN(const auto model, FindModelShape(o.model_size));
  TACHO_ASSIGN_OR_RETURN(const auto hardware, FindHardware(o.hardware));
  worker.cost.model = model;
  worker.cost.hardware = hardware;
  worker.cost.sends_tokens = !vllm;
  worker.cost.tensor_parallel = static_cast<int>(o.tp.value_or(1));
  worker.cost.speed = ParseWhole<double>(o.speed).value_or(0);
  if (!(worker.cost.speed > 0.001 && worker.cost.speed < 1000)) {
    return Refuse("--speed is a number like 1, 0.5 or 20");
  }
  if (worker.cost.tensor_parallel > 64 || o.dp.value_or(1) > 64) {
    return Refuse("--tp and --dp are at most 64");
  }
  worker.served_model = o.model.value_or(std::string(model.checkpoint));
  worker.data_parallel = static_cast<int>(o.dp.value_or(1));
  worker.seed = static_cast<uint64_t>(o.seed.value_or(1));
  worker.limits.max_num_seqs = o.max_num_seqs.value_or(256);
  worker.limits.max_num_batched_tokens = o.max_num_batched_tokens.value_or(8192);
  worker.limits.chunked_prefill = !o.whole_prompts;
  worker.limits.mixes = vllm;
  worker.limits.proposed = o.proposed.value_or(0);
  if (worker.limits.proposed > 16) return Refuse("--speculative is at most 16");
  TACHO_ASSIGN_OR_RETURN(worker.limits.acceptance, ShareArgument("--acceptance", o.acceptance));
  worker.max_model_len = o.max_model_len.value_or(32'768);
  worker.stream_interval = o.stream_interval.value_or(1);
  worker.prefix_caching = !o.no_prefix_cache;
  worker.dev_mode = o.dev_mode;
  worker.echoes_request_id = o.echo_ids;
  worker.logs_iterations = o.log_iterations;
  worker.logs_requests = o.log_requests;
  worker.trace_folder =
      std::filesystem::absolute(o.trace_folder.value_or("simulated-traces")).string();
  worker.profiler_config =
      o.profiler_config.value_or(DefaultProfilerConfig(worker.version, worker.trace_folder));
  const char* temp = std::getenv("TMPDIR");
  worker.temp_folder = o.temp_folder.value_or(temp == nullptr ? "/tmp" : temp);
  worker.gzip_level = static_cast<int>(std::min<int64_t>(9, o.gzip_level.value_or(1)));
  worker.truth = o.truth;
  TACHO_ASSIGN_OR_RETURN(worker.profiler_slowdown,
                         ShareArgument("--profiler-slowdown", o.profiler_slowdown));
  out.count = o.count.value_or(1);
  if (out.count > 4096) return Refuse("--count is at most 4096");
  out.router_per_rank = o.router_per_rank;
  out.host = o.host;
  if (o.port.value_or(0) > 65'535 || o.worker_port.value_or(0) > 65'535) {
    return Refuse("a port is at most 65535");
  }
  out.port = static_cast<uint16_t>(o.port.value_or(0));
  out.worker_port = static_cast<uint16_t>(o.worker_port.value_or(0));
  out.log_path = o.log.value_or("");
  TACHO_RETURN_IF_ERROR(FillFaults(o, out));
  return out;
}

// The engine and version that the servers report. TensorRT-LLM and TokenSpeed have an SGLang
// inside.
std::pair<std::string, std::string> ShownEngine(const simulate::WorkerOptions& worker) {
  const std::string inside(NameOf(worker.kind));
  switch (worker.host) {
    case simulate::HostKind::kTensorRtLlm:
      return {"tensorrt-llm", "1.3.0"};
    case simulate::HostKind::kTokenSpeed:
      return {"tokenspeed", "0.1.1"};
    case simulate::HostKind::kDynamo:
      return {"dynamo-" + inside, worker.version};
    case simulate::HostKind::kNone:
      break;
  }
  return {inside, worker.version};
}

std::string Addresses(const Simulation& simulation, const SimulationOptions& options) {
  std::string out;
  if (!simulation.RouterUrl().empty()) {
    out += fmt::format("router    {}   metrics {}\n", simulation.RouterUrl(),
                       simulation.PrometheusUrl());
  }
  for (size_t i = 0; i < simulation.workers().size(); ++i) {
    const WorkerPlace& place = simulation.workers()[i];
    out += fmt::format("worker {:<2} {}   pid {}\n", i, place.url, place.pid);
  }
  const auto [engine, version] = ShownEngine(options.worker);
  return out + fmt::format("{} {}, {} on {}; Ctrl-C ends it\n", engine, version,
                           options.worker.served_model, options.worker.cost.hardware.device_name);
}

std::string AddressesJson(const Simulation& simulation, const SimulationOptions& options) {
  std::string workers;
  for (const WorkerPlace& place : simulation.workers()) {
    std::string pids;
    for (const int64_t pid : place.rank_pids)
      pids += fmt::format("{}{}", pids.empty() ? "" : ",", pid);
    workers += fmt::format(R"({}{{"url":{},"pid":{},"rank_pids":[{}]}})",
                           workers.empty() ? "" : ",", QuoteJson(place.url), place.pid, pids);
  }
  const auto [engine, version] = ShownEngine(options.worker);
  std::string out = "{";
  if (!simulation.RouterUrl().empty()) {
    out += fmt::format(R"("router":{},"prometheus":{},)", QuoteJson(simulation.RouterUrl()),
                       QuoteJson(simulation.PrometheusUrl()));
  }
  return out +
         fmt::format(R"("engine":"{}","version":{},"model":{},"workers":[{}]}})", engine,
                     QuoteJson(version), QuoteJson(options.worker.served_model), workers) +
         "\n";
}

// Sleeps until SIGINT or SIGTERM, or until the time is over. Returns whether there was a signal.
bool WaitForEnd(const sigset_t& signals, std::optional<int64_t> limit_ns) {
  if (!limit_ns) {
    int signal = 0;
    sigwait(&signals, &signal);
    return true;
  }
  const timespec limit{static_cast<time_t>(*limit_ns / 1'000'000'000),
                       static_cast<long>(*limit_ns % 1'000'000'000)};
  int signal = -1;
  do {
    signal = sigtimedwait(&signals, nullptr, &limit);
  } while (signal < 0 && errno == EINTR);
  return signal > 0;
}

}  // namespace

std::vector<CommandSpec> SimulateSpecs() {
  SimulateOptions options;
  return {SimulateSpec(options), SimulateTraceSpec()};
}

Result<int> RunSimulate(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "trace")
    return RunSimulateTrace({arguments.begin() + 1, arguments.end()});
  SimulateOptions given;
  TACHO_ASSIGN_OR_RETURN(const auto parsed, ParseArguments(SimulateSpec(given), arguments));
  if (parsed) {
    const auto written = WriteStdout(HelpText(SimulateSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  TACHO_ASSIGN_OR_RETURN(auto options, OptionsOf(given));
  std::optional<int64_t> limit;
  if (given.time) {
    TACHO_ASSIGN_OR_RETURN(limit, WithContext(ParseTime(*given.time), "--for"));
  }
  // Blocks the signals in this thread, and thereby in all threads and processes that are made
  // later. They arrive only where one of these waits for them (sigwait).
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // As in PyTorch, only "1" means yes. The processes must be forked before the first thread starts.
  std::unique_ptr<ServerProcesses> processes;
  if (const char* daemon = std::getenv("KINETO_USE_DAEMON");
      daemon != nullptr && std::string_view(daemon) == "1") {
    TACHO_ASSIGN_OR_RETURN(processes, ServerProcesses::Start(options));
    options.elsewhere = processes->places();
    options.count = 0;
  }
  TACHO_ASSIGN_OR_RETURN(const auto simulation, Simulation::Start(options));
  const auto written = WriteStdout(given.json ? AddressesJson(*simulation, options)
                                              : Addresses(*simulation, options));
  if (!written) return Fails(written.error());
  if (WaitForEnd(signals, limit)) Complain("ending the servers");
  return kDone;
}

}  // namespace tacho
