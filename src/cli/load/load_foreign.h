#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/load/load_flags.h"

namespace tacho {

// Reads the arguments of `tacho load`. Returns true if help was requested. As in vLLM, option names
// may have '_' for '-', and a unique prefix of a vLLM flag is enough. kUsage: as for
// ParseArguments, or a flag of `vllm bench serve` that tacho does not support; the message says
// why, and what to use instead.
Result<bool> ParseLoadFlags(const std::vector<std::string>& arguments, LoadFlags& flags);

}  // namespace tacho
