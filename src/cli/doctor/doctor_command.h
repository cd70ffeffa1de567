#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// `tacho doctor`: every known failure of profiling, looked for in engines, command lines, logs,
// recordings, traces or this host. Changes nothing. kIncomplete if something would spoil a
// recording.
Result<int> RunDoctor(const std::vector<std::string>& arguments);
std::vector<CommandSpec> DoctorSpecs();

}  // namespace tacho
