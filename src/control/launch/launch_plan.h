#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "control/launch/command_options.h"

namespace tacho {

// How an engine is started, for the checks of launch_checks.h.
struct LaunchPlan {
  EngineKind kind = EngineKind::kUnknown;
  std::string version;                             // "" counts as the newest
  std::vector<std::string> words;                  // the engine's own command
  std::vector<CommandOption> options;              // in `words`
  bool under_nsys = false;                         // by its command line or environment
  std::optional<std::vector<CommandOption>> nsys;  // nsys's own, if the command runs nsys
  std::map<std::string, std::string, std::less<>> environment;
  bool stacks_are_meant = false;  // the user wants stacks: no remedy against them

  std::string Name() const;  // "vLLM 0.32.0"
  // The value of the last option of that name ("" for a flag without a value); nullopt if there is
  // no such option.
  std::optional<std::string> Option(std::string_view name) const;
  std::optional<std::string> Variable(std::string_view name) const;
  bool IsOn(std::string_view variable) const;  // set, and not "", 0, false, no or off
  bool RunsOnCpu() const;                      // as far as words, environment and version show
};
LaunchPlan PlanOf(EngineKind kind, std::string_view version, const std::vector<std::string>& words,
                  const std::vector<std::string>& environment);

// Whether Python's int() accepts `text`. It allows blanks around the number, a sign, and single '_'
// between digits.
bool IsPythonInteger(std::string_view text);
// The parts of CheckLaunch; each adds what it finds.
void CheckVariables(const LaunchPlan& plan, std::vector<Finding>& findings);
// Returns false if the engine does not start with its --profiler-config.
bool CheckProfilerConfig(const LaunchPlan& plan, std::vector<Finding>& findings);
// Adds the problems that a recording with this profiler would have.
void CheckProfilerUse(const LaunchPlan& plan, const ProfilerFacts& profiler,
                      std::vector<Finding>& findings);
void CheckNsys(const LaunchPlan& plan, const ProfilerFacts& profiler,
               std::vector<Finding>& findings);

}  // namespace tacho
