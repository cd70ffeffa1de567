#include "analysis/findings/request_findings.h"

namespace tacho {
namespace {

constexpr RequestPart kLost[] = {RequestPart::kClient,    RequestPart::kNetwork,
                                 RequestPart::kQueue,     RequestPart::kWaitPrefill,
                                 RequestPart::kPreempted, RequestPart::kSend};
constexpr double kMuchUnknown = 0.01;  // of the requests' time

}  // namespace

RequestParts PartsOfSplit(const RequestAnalysis& requests) {
  RequestParts sums;
  for (const RequestRow& row : requests.rows) {
    if (row.whole && row.lacks == RequestLacks::kNothing) sums.Add(row.parts);
  }
  return sums;
}

std::vector<RunFinding> RequestFindings(const RequestAnalysis& requests) {
  if (!requests.any()) return {};
  const RequestParts sums = PartsOfSplit(requests);
  const DurationNs whole = sums.Sum();
  RunFinding one{.kind = RunFindingKind::kRequests, .of = FindingWhole::kRequests, .whole = whole};
  if (whole.ns == 0) {
    if (requests.why == JoinWhy::kJoined || requests.why == JoinWhy::kOthers ||
        requests.why == JoinWhy::kNoRequests)
      return {};
    one.id = "requests";
    one.confidence = Confidence::kCannotTell;
    one.because = WhyUnknown::kJoin;
    return {one};
  }
  if (ShareOf(sums[RequestPart::kUnknown], whole) >= kMuchUnknown)
    one.confidence = Confidence::kAtLeast;
  std::vector<RunFinding> findings;
  for (const RequestPart part : kLost) {
    if (sums[part].ns <= 0) continue;
    RunFinding& finding = findings.emplace_back(one);
    finding.part = part;
    finding.id = "requests." + std::string(RequestPartId(part));
    finding.cost = sums[part];
    DurationNs most{-1};
    for (const RequestRow& row : requests.rows) {
      if (!row.whole || row.lacks != RequestLacks::kNothing || row.parts[part] <= most) continue;
      most = row.parts[part];
      finding.request = row.id;
    }
  }
  return findings;
}

}  // namespace tacho
