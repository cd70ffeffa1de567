#pragma once

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/requests/request_analysis.h"

namespace tacho {

// What the time of the requests went to whose time is split: the whole of their findings.
RequestParts PartsOfSplit(const RequestAnalysis& requests);
// What the time of the requests that were answered in full was lost to, without order. Only what
// device time does not show: communication, idle time and waits for other ranks are findings of the
// devices. Cost: O(requests).
std::vector<RunFinding> RequestFindings(const RequestAnalysis& requests);

}  // namespace tacho
