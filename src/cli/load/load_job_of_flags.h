#pragma once

#include "base/result.h"
#include "cli/load/load_flags.h"
#include "session/load/load_job.h"

namespace tacho {

// kUsage: contradicting flags, or invalid values.
Result<LoadJob> LoadJobOf(const LoadFlags& flags);

}  // namespace tacho
