#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/load_flags.h"

namespace tacho {

// Reads the arguments of `tacho load`; true: help was asked for. Names of options may have '_' in
// place of '-', as vLLM's may, and a flag of vLLM's may be cut where no other one begins so.
// kUsage: as ParseArguments, and for a flag of `vllm bench serve` that tacho does not do: why, and
// what does it instead.
Result<bool> ParseLoadFlags(const std::vector<std::string>& arguments, LoadFlags& flags);

}  // namespace tacho
