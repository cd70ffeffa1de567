#pragma once

#include "base/result.h"
#include "cli/load/load_flags.h"
#include "cli/load/load_job_of_flags.h"

namespace tacho {

// The part of LoadJobOf for what is sent and when: fills job.plan, job.dataset and their
// description in the results. Needs job.target.api. kUsage.
Result<void> SetPlan(const LoadFlags& flags, LoadJob& job);

}  // namespace tacho
