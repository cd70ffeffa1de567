#include "control/launch/launch_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "control/launch/launch_plan.h"
#include "control/launch/profile_needs.h"
#include "control/live/engine_answers.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"

namespace tacho {
namespace {

// The profiler that the planned server will have; none if `kind` is not set.
ProfilerFacts ProfilerOf(const LaunchPlan& plan) {
  ProfilerFacts profiler;
  profiler.has_daemon = plan.Variable("KINETO_USE_DAEMON") == "1";
  std::vector<std::string> environment;
  // Variables that this version does not read configure nothing.
  for (const auto& [name, value] : plan.environment)
    if (EngineRule(plan.kind, plan.version, "variable." + name) == "text")
      environment.push_back(name + "=" + value);
  ReadProfilerConfig(ProfilerConfigOf(plan.words, environment), profiler);
  if (!profiler.kind && profiler.folder && !environment.empty()) profiler.kind = "torch";
  const auto reads = [&](std::string_view name) {
    const std::string_view how =
        EngineRule(plan.kind, plan.version, fmt::format("variable.{}", name));
    return !how.empty() && !how.starts_with("unread");
  };
  if (reads("VLLM_TORCH_CUDA_PROFILE") && plan.IsOn("VLLM_TORCH_CUDA_PROFILE"))
    profiler.kind = "cuda";
  if (reads("VLLM_PROFILER_MAX_ITERS") && !profiler.max_iterations)
    profiler.max_iterations =
        ParseWhole<int64_t>(plan.Variable("VLLM_PROFILER_MAX_ITERS").value_or(""));
  if (profiler.kind == "torch" && !profiler.with_stack)
    profiler.with_stack = EngineRule(plan.kind, plan.version, "stacks") == "yes";
  return profiler;
}

// The rule is "default", or the setting NAME=VALUE that turns the graph on.
bool UsesRayGraph(const LaunchPlan& plan) {
  const std::string_view rule = EngineRule(plan.kind, plan.version, "ray_graph");
  const size_t equals = rule.find('=');
  if (equals == rule.npos) return !rule.empty();
  return plan.Variable(rule.substr(0, equals)) == rule.substr(equals + 1);
}

void CheckVllm(const LaunchPlan& plan, const ProfilerFacts& profiler,
               std::vector<Finding>& findings) {
  // With --config, the server's other options may be in that file.
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

void CheckSglang(const LaunchPlan& plan, std::vector<Finding>& findings) {
  const auto admin_key = plan.Option("admin-api-key");
  if (admin_key && plan.Option("api-key") && admin_key != plan.Option("api-key"))
    findings.push_back({FindingId::kTwoKeys, "--admin-api-key",
                        "it cannot be recorded yet: SGLang's profiler wants this key, everything "
                        "else that of --api-key",
                        "give both the same key, or leave --admin-api-key out"});
  if (plan.Option("enable-layerwise-nvtx-marker") && !plan.Option("disable-cuda-graph"))
    findings.push_back({FindingId::kGraphsHideRanges, "--enable-layerwise-nvtx-marker",
                        "the ranges of layers do not appear while CUDA graphs are replayed",
                        "add --disable-cuda-graph, for this measurement alone"});
}

}  // namespace

std::vector<Finding> CheckLaunch(EngineKind kind, std::string_view version,
                                 const std::vector<std::string>& words,
                                 const std::vector<std::string>& environment,
                                 bool stacks_are_meant) {
  std::vector<Finding> findings;
  if (kind == EngineKind::kUnknown) return findings;
  LaunchPlan plan = PlanOf(kind, version, words, environment);
  plan.stacks_are_meant = stacks_are_meant;
  const bool starts = CheckProfilerConfig(plan, findings);
  CheckVariables(plan, findings);
  const ProfilerFacts profiler = ProfilerOf(plan);
  if (kind == EngineKind::kSglang) CheckSglang(plan, findings);
  if (kind == EngineKind::kVllm && starts) CheckVllm(plan, profiler, findings);
  if (starts) CheckNsys(plan, profiler, findings);
  std::ranges::stable_sort(findings, std::greater<>(), &Finding::severity);
  return findings;
}

EngineKind EngineOf(const std::vector<std::string>& words) {
  if (!words.empty() && ProgramName(words[0]) == "tacho") return EngineKind::kUnknown;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view name = ProgramName(words[i]);
    if (name == "vllm" || name == "vllm-serve" || words[i].starts_with("vllm.entrypoints"))
      return EngineKind::kVllm;
    if (name == "sglang" || words[i].starts_with("sglang.launch_server") ||
        name == "sglang_launch_server" || words[i].starts_with("sglang.srt"))
      return EngineKind::kSglang;
  }
  return EngineKind::kUnknown;
}

}  // namespace tacho
