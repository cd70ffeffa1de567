#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/key_options.h"
#include "cli/options/parse.h"
#include "launch/plan_here.h"

namespace tacho {

// --python PATH
OptionRow PythonRow(std::string& python);

std::vector<OptionRow> EngineRows(EngineArguments& engine);

// The command line of `tacho launch`.
struct LaunchArguments {
  std::vector<std::string> words;  // "vllm", "sglang", "list", or "stop" and names
  EngineArguments engine;
  std::string name, out = ".";
  bool dry_run = false, detach = false, json = false, quiet = false;
};
CommandSpec LaunchSpec(LaunchArguments& arguments);

// kUsage: `name` is neither "vllm" nor "sglang".
Result<EngineKind> ParseEngine(const std::string& name);

// Uses the key from the servers' own arguments, unless the user gave one to tacho.
void UseKeyOf(const PlannedLaunch& plan, const ServerOptions& given, HttpClientOptions& http);
// Calls PlanHere, and gives it this host's nsys if the preset needs nsys. kInterrupted: Ctrl-C.
Result<PlanOfHere> PlanUntilInterrupted(EngineKind kind, const EngineArguments& arguments,
                                        const std::string& folder, const std::string& session);

}  // namespace tacho
