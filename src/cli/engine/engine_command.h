#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// `tacho engine list|status|start|stop|sleep|wake TARGET...`: controls the engines' own profilers
// through their router, and prints one line per worker. Takes the flags of vime's and slime's
// tools/profile_rollout.py.
Result<int> RunEngine(const std::vector<std::string>& arguments);
std::vector<CommandSpec> EngineSpecs();

}  // namespace tacho
