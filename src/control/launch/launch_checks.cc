#include "control/launch/launch_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "control/engine_type.h"
#include "control/launch/launch_plan.h"
#include "control/launch/profile_needs.h"
#include "control/live/engine_answers.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"

namespace tacho {
namespace {

// The profiler that the planned server will have; `kind` is not set if it will have none.
ProfilerFacts ProfilerOf(const LaunchPlan& plan) {
  ProfilerFacts profiler;
  profiler.has_daemon = plan.Variable("KINETO_USE_DAEMON") == "1";
  std::vector<std::string> environment;
  // Ignores variables that this version does not read.
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

}  // namespace

std::vector<Finding> CheckLaunch(EngineKind kind, std::string_view version,
                                 const std::vector<std::string>& words,
                                 const std::vector<std::string>& environment,
                                 bool stacks_are_meant) {
  std::vector<Finding> findings;
  if (!IsKnown(kind)) return findings;
  LaunchPlan plan = PlanOf(kind, version, words, environment);
  plan.stacks_are_meant = stacks_are_meant;
  const bool starts = CheckProfilerConfig(plan, findings);
  CheckVariables(plan, findings);
  const ProfilerFacts profiler = ProfilerOf(plan);
  TypeOf(kind).CheckLaunch(plan, profiler, starts, findings);
  if (starts) CheckNsys(plan, profiler, findings);
  std::ranges::stable_sort(findings, std::greater<>(), &Finding::severity);
  return findings;
}

EngineKind EngineOf(const std::vector<std::string>& words) {
  if (!words.empty() && ProgramName(words[0]) == "tacho") return EngineKind::kUnknown;
  const std::vector<const EngineType*> types = LaunchedTypes();
  for (const std::string& word : words) {
    const auto type = std::ranges::find_if(
        types, [&](const EngineType* one) { return one->IsProgram(word, ProgramName(word)); });
    if (type != types.end()) return (*type)->kind();
  }
  return EngineKind::kUnknown;
}

}  // namespace tacho
