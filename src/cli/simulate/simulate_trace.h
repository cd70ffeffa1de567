#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// tacho simulate trace: the traces of one run whose truth is known, without servers.
Result<int> RunSimulateTrace(const std::vector<std::string>& arguments);

CommandSpec SimulateTraceSpec();  // only for reading: the options' targets no longer exist

}  // namespace tacho
