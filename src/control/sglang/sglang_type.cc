#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "control/engine_folder.h"
#include "control/engine_type.h"
#include "control/launch/profile_needs.h"
#include "control/live/answer_json.h"
#include "control/live/local_engine.h"
#include "control/live/port_owner.h"
#include "control/live/start_request.h"
#include "control/version.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

class Sglang final : public EngineType {
 public:
  Sglang() : EngineType(EngineKind::kSglang, "sglang") {}
  [[nodiscard]] std::string_view title() const override { return "SGLang"; }
  [[nodiscard]] bool WroteLine(std::string_view, std::string_view text) const override {
    return text.starts_with("server_args=") || text.find("(with profile id: ") != text.npos;
  }
  [[nodiscard]] std::string_view VersionInLine(std::string_view text) const override {
    return text.starts_with("sglang: ") ? TextAfter(text, "sglang: ", " ") : "";  // by check_env
  }
  // The router is told to check the engine by /ready: /health runs a forward pass, and the router's
  // checks would fill a profile.
  [[nodiscard]] const LaunchWords* Launch() const override {
    static const LaunchWords kLaunch = {
        .port = 30000,
        .program = "",
        .module = "sglang.launch_server",
        .model_option = "--model-path",
        .tensor_parallel = {"--tp-size", "--tp", "--tensor-parallel-size"},
        .pipeline_parallel = {"--pp-size", "--pipeline-parallel-size"},
        .data_parallel = {"--dp-size", "--dp", "--data-parallel-size"},
        .shares_gpus = "--enable-dp-attention",
        .key_variable = "",
        .only_key_option = "admin-api-key",
        .folder_variable = "SGLANG_TORCH_PROFILER_DIR",
        .router = "sglang-router",
        .router_begin = {"launch"},
        .router_options = {"--health-check-endpoint", "/ready"}};
    return &kLaunch;
  }
  [[nodiscard]] bool WasGivenFolder(int64_t pid, const std::string& folder) const override {
    return FolderOfProcess(pid, EnvironmentOf(pid, "SGLANG_TORCH_PROFILER_DIR").value_or("")) ==
           folder;
  }
  [[nodiscard]] bool IsProgram(std::string_view word, std::string_view program) const override {
    return program == "sglang" || program == "sglang_launch_server" ||
           word.starts_with("sglang.launch_server") || word.starts_with("sglang.srt");
  }
  void CheckLaunch(const LaunchPlan& plan, const ProfilerFacts&, bool,
                   std::vector<Finding>& findings) const override {
    const auto admin_key = plan.Option("admin-api-key");
    if (admin_key && plan.Option("api-key") && admin_key != plan.Option("api-key"))
      findings.push_back({FindingId::kTwoKeys, "--admin-api-key",
                          "it cannot be recorded yet: SGLang's profiler needs this key, everything "
                          "else that of --api-key",
                          "give both the same key, or leave --admin-api-key out"});
    if (plan.Option("enable-layerwise-nvtx-marker") && !plan.Option("disable-cuda-graph"))
      findings.push_back({FindingId::kGraphsHideRanges, "--enable-layerwise-nvtx-marker",
                          "the ranges of layers do not appear while CUDA graphs are replayed",
                          "add --disable-cuda-graph, for this measurement alone"});
  }
  void CheckVariables(const LaunchPlan& plan, std::vector<Finding>& findings) const override {
    if (plan.IsOn("SGLANG_PROFILE_V2"))
      findings.push_back({FindingId::kProfilerV2, "SGLANG_PROFILE_V2",
                          "with SGLang's profiler V2 each /stop_profile, and each start without "
                          "profile_by_stage, ends the whole server",
                          "leave it out"});
  }
  [[nodiscard]] bool Answers(const AnswerJson& json) const override {
    return json.owner == "sglang" || JsonMember(json.server_info, "internal_states").is_array();
  }
  [[nodiscard]] bool IsNamedBy(std::string_view metrics) const override {
    return metrics.find("sglang:") != metrics.npos;
  }
  void ReadFacts(const AnswerJson& json, EngineFacts& facts) const override {
    facts.version = JsonGet<std::string>(json.server_info, "version").value_or("");
    TakeSizes(json.server_info, {"tp_size", "pp_size", "dp_size"}, facts);
    TakeFormats(json.server_info, facts);
    facts.device = JsonGet<std::string>(json.server_info, "device").value_or("");
    facts.profiler.has_http = true;
    facts.profiler.reads_body = true;
    facts.profiler.reads_profile_id = EngineRule(facts.kind, facts.version, "id") == "yes";
    facts.profiler.kind = "torch";
    const auto path = JsonGet<std::string>(JsonOfAnswer(json.answers[kModelInfo]), "model_path");
    if (facts.model.empty()) facts.model = path.value_or("default");
    if (path) facts.model_root = *path;
  }
  // Does not use /health, which runs a forward pass. The server ends when its scheduler ends, so
  // any answer shows that the engine lives.
  [[nodiscard]] std::string_view LifeRoute() const override { return "/model_info"; }
  [[nodiscard]] NotReady WhyNotReady(const AskRoute& ask) const override {
    NotReady why = Objection(ask("/ready"), "/ready", true);
    if (!why.text.empty()) return why;
    const auto info = ask("/model_info");
    constexpr int kNotFound = 404;
    if (info && *info == kNotFound)
      return Objection(ask("/get_model_info"), "/get_model_info", false);
    return Objection(info, "/model_info", false);
  }
  [[nodiscard]] Result<ControlRequest> PlanStart(const Worker& worker, const EngineFacts& facts,
                                                 const ProfileOptions& options) const override {
    auto has = [&](std::string_view key) {
      return EngineRule(facts.kind, facts.version, key) == "yes";
    };
    if (options.IsOn("profile_by_stage") && !options.steps)
      return RefuseStart(worker,
                         "stages without a number of steps end an SGLang server: give --steps");
    TACHO_ASSIGN_OR_RETURN(Json body, StartBodyOf(worker, facts, options));
    if (facts.device == "cpu" && body.contains("activities") &&
        std::find(body["activities"].begin(), body["activities"].end(), "CPU") ==
            body["activities"].end())
      return RefuseStart(worker,
                         "activities without CPU end an SGLang server that has no GPU: name CPU");
    if (options.output_dir && !options.output_dir->starts_with('/'))
      return RefuseStart(worker,
                         "the folder for traces must be an absolute path on the engine's machine");

    if (options.output_dir) body["output_dir"] = *options.output_dir;
    // SGLang switches both on by default.
    for (const char* flag : {"with_stack", "record_shapes"})
      if (!body.contains(flag)) body[flag] = false;
    if (options.steps) {
      body["num_steps"] = *options.steps;
      if (options.IsOn("profile_by_stage")) {
        // SGLang counts the steps of each stage, and begins the session with the next batch.
      } else if (has("start_step") && !options.at_once) {
        // With start_step all versions record exactly N steps, and a start fails while another
        // session runs, instead of discarding that session's window.
        body["start_step"] = 1;
      } else if (EngineRule(facts.kind, facts.version, "immediate") == "one-less") {
        body["num_steps"] = *options.steps + 1;
      }
    }
    if (has("prefix")) body["profile_prefix"] = options.key;
    // The id is the session's key, because files of a reused id would be overwritten.
    if (facts.profiler.reads_profile_id) body["profile_id"] = options.key;
    ControlRequest request{worker.url, "/start_profile", body.dump()};
    // A session by stage needs no guard: SGLang itself refuses it while another session runs.
    if (has("start_step") && !options.IsOn("profile_by_stage"))
      request.guard_body = BodyThatNeverBegins();
    return request;
  }
  [[nodiscard]] bool KeyNamesFiles(const EngineFacts& facts) const override {
    return facts.profiler.reads_profile_id ||
           EngineRule(facts.kind, facts.version, "prefix") == "yes";
  }
  // SGLang gives no reason in its answer, only in its log.
  bool JudgeFailure(const ControlRequest& request, const EngineFacts&, int status, bool stop,
                    ControlOutcome& outcome) const override {
    if (status != 500) return false;
    if (stop) {
      outcome.verdict = ControlVerdict::kWasSo;
      outcome.said = "no profile was running on its first rank";
      return true;
    }
    outcome.taken = true;
    outcome.said = fmt::format(
        "a profile is already running, or the request was refused (its log tells); tacho engine "
        "stop {} ends it",
        request.url);
    return true;
  }
  [[nodiscard]] std::optional<Finding> FindObstacle(const Worker& worker, const EngineFacts&,
                                                    const ProfileOptions& options) const override {
    if (!options.IsOn("with_stack") || options.steps) return std::nullopt;
    return StacksUnbounded(worker.url, "give --steps N");
  }
  [[nodiscard]] ControlRequest PlanSleep(const std::string& url, bool sleep,
                                         int64_t) const override {
    return {url, sleep ? "/release_memory_occupation" : "/resume_memory_occupation", "{}"};
  }
  // SGLang has no route that reports whether it sleeps. In 0.5.23 resume_memory_occupation raises a
  // KeyError if the engine is awake, and release_memory_occupation asserts that no request runs.
  [[nodiscard]] bool MayDieOfSleep() const override { return true; }
};

}  // namespace

const EngineType& SglangType() {
  static const Sglang type;
  return type;
}

}  // namespace tacho
