#pragma once

#include "base/result.h"
#include "cli/load/load_flags.h"
#include "cli/load/load_job_of_flags.h"

namespace tacho {

// The part of LoadJobOf that decides what is sent and when. Fills job.plan, job.dataset and their
// description in the results. Needs job.target.api. kUsage: contradicting flags, or invalid values.
Result<void> SetPlan(const LoadFlags& flags, LoadJob& job);

}  // namespace tacho
