#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// `tacho doctor`: looks for every known failure of profiling in engines, command lines, logs,
// recordings, traces or this host. Changes nothing. Returns kIncomplete if something would spoil a
// recording.
Result<int> RunDoctor(const std::vector<std::string>& arguments);
std::vector<CommandSpec> DoctorSpecs();

}  // namespace tacho
