#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/words.h"
#include "control/engine_type.h"
#include "control/launch/launch_plan.h"
#include "control/version.h"

namespace tacho {
namespace {

void CheckVariable(const LaunchPlan& plan, const std::string& name, const std::string& value,
                   std::vector<Finding>& findings) {
  std::string_view rule = EngineRule(plan.kind, plan.version, "variable." + name);
  const std::string_view how = TakeWord(rule);
  const std::string subject = fmt::format("{}={}", name, value);
  if (how == "unread" && name == "VLLM_RPC_TIMEOUT") {
    findings.push_back({FindingId::kTimeoutNotRead, subject,
                        fmt::format("{} does not read this variable, although it is still "
                                    "recommended in many places",
                                    plan.Name()),
                        "leave it out: /stop_profile waits as long as it takes; give the HTTP "
                        "client time"});
  } else if (how == "unread") {
    const bool too_new = rule.starts_with("vLLM");
    findings.push_back({FindingId::kVariableNotRead, subject,
                        fmt::format("{} does not read this variable: it does nothing", plan.Name()),
                        fmt::format("{}{}", too_new ? "" : "use instead ", rule)});
  } else if (how == "integer" && !IsPythonInteger(value)) {
    findings.push_back(
        {FindingId::kVariableNotParsed, subject,
         fmt::format("{} reads it as an integer, and ends with a ValueError at the "
                     "latest when it first needs it",
                     plan.Name()),
         rule.empty() ? "leave it out" : fmt::format("set {}={}, or leave it out", name, rule)});
  }
}

}  // namespace

bool IsPythonInteger(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  bool digit = false;
  for (const char c : text) {
    if (!IsDigit(c) && !(c == '_' && digit)) return false;
    digit = IsDigit(c);
  }
  return digit;
}

void CheckVariables(const LaunchPlan& plan, std::vector<Finding>& findings) {
  for (const std::string& name : RuleKeys(NameOf(plan.kind), "variable."))
    if (const auto value = plan.Variable(name)) CheckVariable(plan, name, *value, findings);
  TypeOf(plan.kind).CheckVariables(plan, findings);
  if (plan.IsOn("VLLM_USE_RUST_FRONTEND") &&
      EngineRule(plan.kind, plan.version, "rust_front_end") == "no-profile")
    findings.push_back({FindingId::kRustFrontEnd, "VLLM_USE_RUST_FRONTEND",
                        fmt::format("the Rust front end of {} has no profile routes: "
                                    "/start_profile gives 404",
                                    plan.Name()),
                        "leave it out; vLLM 0.25 and later have them"});
  if (plan.IsOn("CUDA_LAUNCH_BLOCKING"))
    findings.push_back({FindingId::kLaunchesBlock, "CUDA_LAUNCH_BLOCKING",
                        "each launch waits for its kernel: a trace shows idle time between kernels "
                        "that the engine does not have without this variable",
                        "leave it out"});
  // Kineto's levels: 0 logs everything, 1 warnings and worse, and higher levels only messages that
  // are worse than warnings.
  if (const auto level = plan.Variable("KINETO_LOG_LEVEL");
      level && ParseWhole<int>(*level).value_or(0) > 1)
    findings.push_back({FindingId::kKinetoSilent, "KINETO_LOG_LEVEL=" + *level,
                        "the log does not say what the profiler warns of, such as records that it "
                        "dropped",
                        "KINETO_LOG_LEVEL=1 while you look for a cause"});
}

}  // namespace tacho
