#include "analysis/findings/request_findings.h"

namespace tacho {
namespace {

constexpr RequestPart kLost[] = {RequestPart::kClient,    RequestPart::kNetwork,
                                 RequestPart::kQueue,     RequestPart::kWaitPrefill,
                                 RequestPart::kPreempted, RequestPart::kSend};
constexpr double kMuchUnknown = 0.01;  // as a share of the requests' time
constexpr double kMuchError = 0.1;     // as a share of the finding's cost

}  // namespace

RequestParts PartsOfSplit(const RequestAnalysis& requests) {
  RequestParts sums;
  for (const RequestRow& row : requests.rows) {
    if (!row.whole || row.lacks != RequestLacks::kNothing) continue;
    sums.Add(row.parts);
    sums[RequestPart::kUnknown] -= row.outside;
  }
  return sums;
}

std::vector<RunFinding> RequestFindings(const RequestAnalysis& requests) {
  if (!requests.any()) return {};
  const RequestParts sums = PartsOfSplit(requests);
  const DurationNs whole = sums.Sum();
  RunFinding one{.kind = RunFindingKind::kRequests, .of = FindingWhole::kRequests, .whole = whole};
  for (const RequestRow& row : requests.rows) {
    if (!row.whole) continue;
    ++one.answered;
    one.split += row.lacks == RequestLacks::kNothing ? 1 : 0;
    one.cut = one.cut || row.outside.ns > 0;
  }
  if (whole.ns == 0) {
    if (requests.why == JoinWhy::kNoRequests) return {};
    const bool joined = requests.why == JoinWhy::kJoined || requests.why == JoinWhy::kOthers;
    one.id = "requests";
    one.confidence = Confidence::kCannotTell;
    one.because = joined ? WhyUnknown::kSplit : WhyUnknown::kJoin;
    return {one};
  }
  if (ShareOf(sums[RequestPart::kUnknown], whole) >= kMuchUnknown)
    one.confidence = Confidence::kAtLeast;
  if (one.few_split()) one.confidence = Confidence::kAbout;
  std::vector<RunFinding> findings;
  for (const RequestPart part : kLost) {
    if (sums[part].ns <= 0) continue;
    RunFinding& finding = findings.emplace_back(one);
    finding.part = part;
    // The time of each request on its way to and from the engine may be off by the clocks' error.
    const bool on_the_way = part == RequestPart::kNetwork || part == RequestPart::kSend;
    const double error = static_cast<double>(requests.clock_error.value_or(DurationNs{}).ns) *
                         static_cast<double>(one.split);
    if (on_the_way && error > kMuchError * static_cast<double>(sums[part].ns))
      finding.confidence = Confidence::kAbout;
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
