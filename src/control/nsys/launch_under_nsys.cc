#include <algorithm>

#include "control/launch/launch_plan.h"

// Checks a launch of nsys with an engine under it.

namespace tacho {
namespace {

std::optional<std::string> NsysOption(const LaunchPlan& plan, std::string_view name) {
  std::optional<std::string> value;
  if (plan.nsys)
    for (const CommandOption& option : *plan.nsys)
      if (option.name == name) value = option.value.value_or("");
  return value;
}

}  // namespace

void CheckNsys(const LaunchPlan& plan, const ProfilerFacts& profiler,
               std::vector<Finding>& findings) {
  const auto add = [&](FindingId id, std::string subject, std::string evidence,
                       std::string remedy) {
    findings.push_back({id, std::move(subject), std::move(evidence), std::move(remedy)});
  };
  const bool vllm = plan.kind == EngineKind::kVllm;
  if (!plan.under_nsys) {
    if (vllm && profiler.kind == "cuda")
      add(FindingId::kNothingCaptures, "--profiler-config",
          "profiler cuda only marks a range for nsys, and the server does not run under nsys: "
          "nothing is written",
          "tacho launch --preset nsys and tacho record --via nsys, or nsys profile "
          "--capture-range=cudaProfilerApi, or \"profiler\":\"torch\"");
    return;
  }
  if (vllm && profiler.kind == "torch")
    add(FindingId::kTwoProfilers, "--profiler-config",
        "the torch profiler under nsys: both want the GPU's one tracing interface (CUPTI), and one "
        "of them records nothing",
        "use \"profiler\":\"cuda\" under nsys, or start the server without nsys");
  if (plan.nsys && NsysOption(plan, "duration") &&
      NsysOption(plan, "kill").value_or("sigterm") != "none")
    add(FindingId::kEndsWithRange, "nsys --duration",
        "nsys ends the server once its duration is over: --kill is sigterm by default",
        "add --kill=none");
  const std::optional<std::string> range = NsysOption(plan, "capture-range");
  if (!plan.nsys || !range || *range == "none") {
    return;
  }
  const std::string end = NsysOption(plan, "capture-range-end").value_or("stop-shutdown");
  if (end == "stop-shutdown")
    add(FindingId::kEndsWithRange, "nsys --capture-range-end",
        "nsys ends the server at the first /stop_profile: stop-shutdown is its default",
        "add --capture-range-end=repeat");
  if (vllm && *range == "cudaProfilerApi" && profiler.kind != "cuda")
    add(FindingId::kRangeNeverOpens, "nsys --capture-range",
        "nsys waits for a range that this server never opens: its report will be empty",
        "add --profiler-config '{\"profiler\":\"cuda\"}'");
}

}  // namespace tacho
