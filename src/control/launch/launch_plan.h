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

// How an engine will be started, as input for the checks in launch_checks.h.
struct LaunchPlan {
  EngineKind kind = EngineKind::kUnknown;
  std::string version;                             // "" counts as the newest version
  std::vector<std::string> words;                  // the engine's own command
  std::vector<CommandOption> options;              // the options in `words`
  bool under_nsys = false;                         // as its command line or environment shows
  std::optional<std::vector<CommandOption>> nsys;  // nsys's own options, if the command runs nsys
  std::map<std::string, std::string, std::less<>> environment;
  bool stacks_are_meant = false;  // the user wants stacks: no remedy turns them off

  std::string Name() const;  // "vLLM 0.32.0"
  // The value of the last option `name` ("" for a flag without a value); nullopt if there is none.
  std::optional<std::string> Option(std::string_view name) const;
  std::optional<std::string> Variable(std::string_view name) const;
  bool IsOn(std::string_view variable) const;  // set, and not "", 0, false, no, n or off
  bool RunsOnCpu() const;                      // as far as words, environment and version show it
};
LaunchPlan PlanOf(EngineKind kind, std::string_view version, const std::vector<std::string>& words,
                  const std::vector<std::string>& environment);

// Whether Python's int() accepts `text`. It allows blanks around the number, a sign, and single '_'
// between digits.
bool IsPythonInteger(std::string_view text);
// The parts of CheckLaunch; each adds its findings.
void CheckVariables(const LaunchPlan& plan, std::vector<Finding>& findings);
// Returns false if the engine will not start with its --profiler-config.
bool CheckProfilerConfig(const LaunchPlan& plan, std::vector<Finding>& findings);
// Adds the problems that recordings with this profiler would have.
void CheckProfilerUse(const LaunchPlan& plan, const ProfilerFacts& profiler,
                      std::vector<Finding>& findings);
void CheckNsys(const LaunchPlan& plan, const ProfilerFacts& profiler,
               std::vector<Finding>& findings);

}  // namespace tacho
