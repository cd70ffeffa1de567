#pragma once

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/requests/request_analysis.h"

namespace tacho {

// The sum of the parts of all requests that were answered in full and whose time is split,
// without their unknown time outside of the recording. Its Sum() is the whole
// (FindingWhole::kRequests) of the findings about requests.
RequestParts PartsOfSplit(const RequestAnalysis& requests);
// The findings about the time of the requests that were answered in full, not sorted. Leaves out
// communication, idle time and waits for other ranks, which are findings about devices. Cost:
// O(requests).
std::vector<RunFinding> RequestFindings(const RequestAnalysis& requests);

}  // namespace tacho
