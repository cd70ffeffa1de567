#pragma once

#include "base/result.h"
#include "cli/load_flags.h"
#include "cli/load_job.h"

namespace tacho {

// The part of LoadJobOf that says what is sent and when: fills job.plan, job.dataset and what the
// results tell of them. Needs job.target.api. kUsage.
Result<void> SetPlan(const LoadFlags& flags, LoadJob& job);

}  // namespace tacho
