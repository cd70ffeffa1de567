#pragma once

#include <string>

#include "analysis/analyze.h"
#include "base/result.h"

namespace tacho {

// Leaves the traces of one session of profiling (analysis/sessions.h) in `run`: of the "latest", or
// of that which alone has a trace with `session` in its path. What is left out becomes one line of
// `run.skipped`. kUsage, naming the sessions: none has it, or several have.
Result<void> KeepSession(const std::string& session, RunAnalysis& run);

}  // namespace tacho
