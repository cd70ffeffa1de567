#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// Whether an engine's command names a model: vLLM would start a default of its own. `given`: the
// user's words, from which FindEngineProgram made `command`. A script is not checked: its options
// are not known. kUsage: no model, with how to name one in `given`.
Result<void> CheckModel(const std::vector<std::string>& command,
                        const std::vector<std::string>& given);

}  // namespace tacho
