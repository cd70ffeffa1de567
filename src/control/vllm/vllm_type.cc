#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/parse_number.h"
#include "base/words.h"
#include "control/engine_type.h"
#include "control/launch/profile_needs.h"
#include "control/live/answer_json.h"
#include "control/live/local_engine.h"
#include "control/live/start_request.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr char kKwargs[] = "profiler_kwargs";

// Refuses options that this vLLM would silently drop: it would answer 200, and record in the way it
// was launched.
Result<void> CheckKwargs(const Worker& worker, const EngineFacts& facts, const Json& body) {
  if (!body.contains(kKwargs)) return {};
  const std::string first = body[kKwargs].begin().key();
  if (const auto& kind = facts.profiler.kind; kind && *kind != "torch")
    return RefuseStart(
        worker,
        fmt::format("{}: its profiler is {}, which reads no options of torch's", first, *kind));
  if (!facts.profiler.reads_kwargs)
    return RefuseStart(worker,
                       fmt::format("{}: its /openapi.json does not name {}, and a front end "
                                   "that does not read it (vLLM's in Rust) drops it without a "
                                   "word; set it when the server starts: --profiler-config",
                                   first, kKwargs));
  return {};
}

// Whether vLLM runs its workers in Ray's compiled graph. The version's rule "ray_graph" is
// "default" if vLLM does so anyway, else the setting NAME=VALUE that turns the graph on; "" if this
// vLLM has no such graph.
bool UsesRayGraph(const LaunchPlan& plan) {
  const std::string_view rule = EngineRule(plan.kind, plan.version, "ray_graph");
  const size_t equals = rule.find('=');
  if (equals == rule.npos) return !rule.empty();
  return plan.Variable(rule.substr(0, equals)) == rule.substr(equals + 1);
}

class Vllm final : public EngineType {
 public:
  Vllm() : EngineType(EngineKind::kVllm, "vllm") {}
  [[nodiscard]] std::string_view title() const override { return "vLLM"; }
  [[nodiscard]] bool WroteLine(std::string_view process, std::string_view text) const override {
    return HasOneOf(process, {"APIServer", "ApiServer", "EngineCore", "VllmWorker"}) ||
           HasOneOf(text,
                    {"LLM engine (v", "vLLM API server version ", "argument --profiler-config: "});
  }
  [[nodiscard]] std::string_view VersionInLine(std::string_view text) const override {
    for (const auto& [before, after] :
         {std::pair("LLM engine (v", ") "), {"vLLM API server version ", " "}})
      if (const auto version = TextAfter(text, before, after); !version.empty()) return version;
    const bool is_banner = text.find("\u2588") != text.npos;  // block letters
    return is_banner ? TextAfter(text, "  version ", " ") : "";
  }
  [[nodiscard]] const LaunchWords* Launch() const override {
    static const LaunchWords kLaunch = {.port = 8000,
                                        .program = "vllm",
                                        .module = "vllm.entrypoints.openai.api_server",
                                        .model_option = "--model",
                                        .tensor_parallel = {"--tensor-parallel-size", "-tp"},
                                        .pipeline_parallel = {"--pipeline-parallel-size", "-pp"},
                                        .data_parallel = {"--data-parallel-size", "-dp"},
                                        .shares_gpus = "",
                                        .key_variable = "VLLM_API_KEY",
                                        .only_key_option = "",
                                        .folder_variable = "VLLM_TORCH_PROFILER_DIR",
                                        .router = "vllm-router",
                                        .router_begin = {},
                                        .router_options = {}};
    return &kLaunch;
  }
  [[nodiscard]] std::string FolderInWords(const std::vector<std::string>& words) const override {
    ProfilerFacts profiler;
    ReadProfilerConfig(ProfilerConfigOf(words, {}), profiler);
    return profiler.folder.value_or("");
  }
  [[nodiscard]] bool WasGivenFolder(int64_t pid, const std::string& folder) const override {
    return ProfilerConfigOfProcess(pid).find(folder) != std::string::npos;
  }
  [[nodiscard]] bool LogsFolder() const override { return true; }
  [[nodiscard]] bool IsProgram(std::string_view word, std::string_view program) const override {
    return program == "vllm" || program == "vllm-serve" || word.starts_with("vllm.entrypoints");
  }
  void CheckLaunch(const LaunchPlan& plan, const ProfilerFacts& profiler, bool starts,
                   std::vector<Finding>& findings) const override {
    if (!starts) return;

    // With --config, the profiler's options may be in that file.
    if (!profiler.kind && !profiler.has_daemon && !plan.under_nsys && !plan.Option("config")) {
      EngineFacts facts;
      facts.kind = plan.kind;
      facts.version = plan.version;
      findings.push_back(ProfilerOff("", facts));
    }
    if (profiler.kind) CheckProfilerUse(plan, profiler, findings);
    if (plan.Option("enable-layerwise-nvtx-tracing") && !plan.Option("enforce-eager"))
      findings.push_back({FindingId::kGraphsHideRanges, "--enable-layerwise-nvtx-tracing",
                          "the ranges of layers do not appear while CUDA graphs are replayed",
                          "add --enforce-eager, for this measurement alone"});
    if (plan.Option("distributed-executor-backend") == "ray" && UsesRayGraph(plan))
      findings.push_back({FindingId::kRayNotTraced, "--distributed-executor-backend ray",
                          "operators of Ray's own threads are missing from the workers' traces",
                          "--distributed-executor-backend mp, if one host has the GPUs"});
    if (plan.nsys && plan.Variable("VLLM_WORKER_MULTIPROC_METHOD") != "spawn" &&
        std::ranges::none_of(*plan.nsys, [](const CommandOption& option) {
          return option.name == "trace-fork-before-exec" && option.value != "false";
        }))
      findings.push_back({FindingId::kForksNotTraced, "nsys",
                          "nsys does not follow forked processes, and vLLM's workers are forked",
                          "add --trace-fork-before-exec=true and set "
                          "VLLM_WORKER_MULTIPROC_METHOD=spawn"});
  }
  void CheckVariables(const LaunchPlan& plan, std::vector<Finding>& findings) const override {
    if (plan.IsOn("VLLM_TRACE_FUNCTION") && IsPythonInteger(*plan.Variable("VLLM_TRACE_FUNCTION")))
      findings.push_back({FindingId::kFunctionTrace, "VLLM_TRACE_FUNCTION",
                          "vLLM logs each Python call: by its own documents it is slower by 100 "
                          "times and more",
                          "leave it out"});
  }
  [[nodiscard]] bool Answers(const AnswerJson& json) const override {
    return json.owner == "vllm" || JsonMember(json.server_info, "vllm_config").is_object();
  }
  [[nodiscard]] bool IsNamedBy(std::string_view metrics) const override {
    return metrics.find("vllm:") != metrics.npos;
  }
  void ReadFacts(const AnswerJson& json, EngineFacts& facts) const override {
    facts.version =
        JsonGet<std::string>(JsonOfAnswer(json.answers[kVersion]), "version").value_or("");
    const Json& start =
        JsonMember(JsonMember(JsonMember(json.openapi, "paths"), "/start_profile"), "post");
    facts.profiler.has_http = start.is_object();
    facts.profiler.reads_body = JsonMember(start, "requestBody").is_object();
    const Json& schemas = JsonMember(JsonMember(json.openapi, "components"), "schemas");
    facts.profiler.reads_kwargs =
        facts.profiler.reads_body &&
        JsonMember(JsonMember(JsonMember(schemas, "StartProfileRequest"), "properties"),
                   "profiler_kwargs")
            .is_object();
    facts.asleep = JsonGet<bool>(JsonOfAnswer(json.answers[kIsSleeping]), "is_sleeping");

    const Json& config = JsonMember(json.server_info, "vllm_config");
    if (auto instance = JsonGet<std::string>(config, "instance_id"))
      facts.instance.id = *std::move(instance);
    TakeSizes(JsonMember(config, "parallel_config"),
              {"tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"}, facts);
    TakeFormats(JsonMember(config, "model_config"), facts);
    facts.kv_cache_dtype =
        JsonGet<std::string>(JsonMember(config, "cache_config"), "cache_dtype").value_or("");
    if (const Json& profiler = JsonMember(config, "profiler_config"); profiler.is_object())
      TakeProfilerConfig(profiler, facts.profiler);
  }
  void AddFactsOfProcess(int64_t pid, EngineFacts& facts) const override {
    const std::string config = ProfilerConfigOfProcess(pid);
    ReadProfilerConfig(config, facts.profiler);
    if (!config.empty() && !facts.profiler.with_stack)
      facts.profiler.with_stack = EngineRule(facts.kind, facts.version, "stacks") == "yes";
  }
  [[nodiscard]] bool ShowsStartToGet() const override { return true; }
  [[nodiscard]] bool DiesBy503() const override { return true; }
  [[nodiscard]] Result<ControlRequest> PlanStart(const Worker& worker, const EngineFacts& facts,
                                                 const ProfileOptions& options) const override {
    if (options.output_dir)
      return RefuseStart(
          worker,
          "vLLM takes the folder for traces from --profiler-config at its start, not from "
          "the request");
    TACHO_ASSIGN_OR_RETURN(Json body, StartBodyOf(worker, facts, options));
    TACHO_RETURN_IF_ERROR(CheckKwargs(worker, facts, body));
    ControlRequest request{worker.url, "/start_profile", ""};
    if (!facts.profiler.reads_body) {
      if (!body.empty())
        return RefuseStart(worker,
                           fmt::format("{}: vLLM {} reads nothing from the start request; newer "
                                       "ones do",
                                       body.begin().key(), facts.version));
      return request;
    }
    body["profile_prefix"] = options.key;
    if (options.steps) body["max_iterations"] = *options.steps;
    request.body = body.dump();
    return request;
  }
  [[nodiscard]] bool KeyNamesFiles(const EngineFacts& facts) const override {
    return facts.profiler.reads_body;
  }
  [[nodiscard]] bool MayBeStoppedFirst() const override { return true; }
  bool JudgeFailure(const ControlRequest& request, const EngineFacts& facts, int status, bool,
                    ControlOutcome& outcome) const override {
    if (status != 404) return false;
    outcome.said = ProfilerOff(request.url, facts).Words();
    return true;
  }
  void AddRisks(const Worker& worker, const EngineFacts& facts, const ProfileOptions& options,
                std::vector<Finding>& risks) const override {
    const auto add = [&](FindingId id, std::string evidence, std::string remedy = "") {
      risks.push_back({id, worker.url, std::move(evidence), std::move(remedy)});
    };
    const ProfilerFacts& profiler = facts.profiler;
    if (auto not_read = FilesNotRead(worker.url, profiler)) risks.push_back(*std::move(not_read));
    const std::string_view stacks_off = EngineRule(facts.kind, facts.version, "stacks_off");
    if (stacks_off.empty())
      add(FindingId::kStacksUnknown,
          fmt::format("vLLM {} always records Python stacks: an idle worker writes 1.6 million "
                      "events a second",
                      facts.version),
          "keep the window short and the engine busy");
    else if (!StacksOf(facts, options) && !(profiler.reads_body && options.steps) &&
             EngineRule(facts.kind, facts.version, "stacks") == "yes")
      add(FindingId::kStacksUnknown,
          "does not report whether it records Python stacks; its version does by default",
          profiler.reads_body ? "--steps N bounds what they write" : std::string(stacks_off));
    if (SkippedIterations(profiler) > 0 &&
        EngineRule(facts.kind, facts.version, "schedule") == "once")
      add(FindingId::kScheduleOnce,
          fmt::format("with wait_iterations or warmup_iterations vLLM {} writes a trace for the "
                      "first session of its life alone",
                      facts.version),
          "start it without them, or anew for each session");
  }
};

}  // namespace

const EngineType& VllmType() {
  static const Vllm type;
  return type;
}

}  // namespace tacho
