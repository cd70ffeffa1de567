#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "run/read_run.h"

namespace tacho {

// Adds what `choice` left out to `readout.run.skipped`. kUsage: no trace has what was requested
// (the message names the available choices); kUnreadable: no trace is a worker's.
Result<void> WordWhatIsLeftOut(const TraceChoice& choice, const ReadOptions& options,
                               Readout<RunAnalysis>& readout);

// "no trace says that it is rank 1 or 2"
std::string NoSuchRank(const std::vector<int64_t>& ranks);

}  // namespace tacho
