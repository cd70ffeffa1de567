#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// Checks that an engine's command names a model, because without one vLLM would start a default
// model. `given`: the user's words, from which FindEngineProgram made `command`. A script passes,
// because its options are not known. kUsage: no model; the message says how to name one in `given`.
Result<void> CheckModel(const std::vector<std::string>& command,
                        const std::vector<std::string>& given);

}  // namespace tacho
