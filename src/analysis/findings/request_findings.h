#pragma once

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/requests/request_analysis.h"

namespace tacho {

// The parts of the time of all requests that were answered in full and whose time is split, added
// up. Their sum is the whole of the findings of requests.
RequestParts PartsOfSplit(const RequestAnalysis& requests);
// The findings about the time of the requests that were answered in full, in no order. Only what
// device time does not show: communication, idle time and waits for other ranks are findings of the
// devices. Cost: O(requests).
std::vector<RunFinding> RequestFindings(const RequestAnalysis& requests);

}  // namespace tacho
