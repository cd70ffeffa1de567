#include "control/launch/launch_plan.h"

#include <algorithm>

#include "base/words.h"
#include "control/engine_type.h"
#include "control/version.h"

namespace tacho {
namespace {

bool StartsEngine(std::string_view word) {
  const std::string_view name = ProgramName(word);
  return name == "vllm" || name == "sglang" || name.starts_with("python") || name == "env" ||
         name == "uv" || name == "torchrun" || name == "ray";
}

// The index of the engine's program, after nsys's options and their values ("-o vllm").
size_t ProgramAfterNsys(const std::vector<std::string>& words, size_t begin) {
  // The first pass assumes that every option has a value, as most do; the second, that none has.
  for (const bool options_have_values : {true, false})
    for (size_t i = begin; i < words.size(); ++i) {
      const std::string_view before = words[i - 1];
      const bool is_value =
          options_have_values && before.starts_with('-') && before.find('=') == before.npos;
      if (!is_value && StartsEngine(words[i])) return i;
    }
  return words.size();
}

// nsys's options, with "-c" replaced by its long name.
std::vector<CommandOption> NsysOptions(std::vector<std::string> words) {
  for (std::string& word : words)
    if (word == "-c") word = "--capture-range";
  return OptionsOf(words);
}

bool MeansOff(std::string_view value) {
  const std::string lower = AsciiLowered(value);
  return lower.empty() || lower == "0" || lower == "false" || lower == "no" || lower == "n" ||
         lower == "off";
}

// nsys and its injected library set these variables in the processes that they trace.
constexpr std::string_view kNsysVariables[] = {"NSYS_PROFILING_SESSION_ID",
                                               "CUDA_INJECTION64_PATH"};
// Only the engines' builds for CPUs read these variables.
constexpr std::string_view kCpuVariables[] = {"VLLM_CPU_KVCACHE_SPACE", "VLLM_CPU_OMP_THREADS_BIND",
                                              "SGLANG_CPU_OMP_THREADS_BIND"};

}  // namespace

LaunchPlan PlanOf(EngineKind kind, std::string_view version, const std::vector<std::string>& words,
                  const std::vector<std::string>& environment) {
  LaunchPlan plan;
  plan.kind = kind;
  plan.version = version;
  for (const std::string& setting : environment)
    if (const size_t equals = setting.find('='); equals != std::string::npos)
      plan.environment[setting.substr(0, equals)] = setting.substr(equals + 1);
  CommandLine line = SplitAssignments(words);
  if (!line.words.empty() && ProgramName(line.words.front()) == "nsys") {
    const auto program =
        line.words.begin() + static_cast<std::ptrdiff_t>(ProgramAfterNsys(line.words, 1));
    plan.under_nsys = true;
    plan.nsys = NsysOptions({line.words.begin(), program});
    CommandLine under = SplitAssignments({program, line.words.end()});
    line.words = std::move(under.words);
    line.environment.insert(line.environment.end(), under.environment.begin(),
                            under.environment.end());
  }
  for (const std::string& setting : line.environment) {
    const size_t equals = setting.find('=');
    plan.environment[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  plan.words = std::move(line.words);
  plan.options = OptionsOf(plan.words);
  plan.under_nsys |= std::ranges::any_of(
      kNsysVariables, [&](std::string_view name) { return plan.Variable(name).has_value(); });
  return plan;
}

std::string LaunchPlan::Name() const {
  return std::string(TypeOf(kind).title()) + (version.empty() ? "" : " " + version);
}

std::optional<std::string> LaunchPlan::Option(std::string_view name) const {
  for (auto option = options.rbegin(); option != options.rend(); ++option)
    if (option->name == name) return option->value.value_or("");
  return std::nullopt;
}

std::optional<std::string> LaunchPlan::Variable(std::string_view name) const {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  return found->second;
}

bool LaunchPlan::IsOn(std::string_view variable) const {
  const std::optional<std::string> value = Variable(variable);
  return value && !MeansOff(Trim(*value));
}

bool LaunchPlan::RunsOnCpu() const {
  return version.find("+cpu") != std::string::npos || Option("device") == "cpu" ||
         Variable("VLLM_TARGET_DEVICE") == "cpu" ||
         std::ranges::any_of(kCpuVariables,
                             [&](std::string_view name) { return Variable(name).has_value(); });
}

}  // namespace tacho
