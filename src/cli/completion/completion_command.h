#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// `tacho completion bash|zsh|fish`: prints the completion script for that shell.
Result<int> RunCompletion(const std::vector<std::string>& arguments);
std::vector<CommandSpec> CompletionSpecs();

}  // namespace tacho
