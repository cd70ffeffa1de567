#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/metrics.h"
#include "base/result.h"

namespace tacho {

// A condition under which a comparison fails: METRIC, or METRIC then > or < and a limit.
//
//   decode.step.p50>+3%    the p50 of decode steps grew by more than 3 %
//   idle.host-late>+50us   in any phase: grew by more than 50 us a step
//   decode.step>20ms       without a sign: the new value itself
//   load.throughput<-2%    fell by more than 2 %
//   kernels.new            any at all; only for counts of kernels
//
// Units: %, ns, us, ms or s; none for counts of kernels and for load metrics that are not times.
// Blanks may surround the sign of comparison.
struct ChangeGate {
  std::string text, metric;      // a metric without a phase applies to every phase
  bool above = true;             // fails above the limit, else below
  bool relative_to_base = true;  // the limit is for the difference, else for the new value
  bool percent = false;
  double limit = 0;  // a share, ns, or a number
};
// `text`: at most 200 bytes. `names`: MetricNames. kUsage: no valid gate, or an unknown metric; the
// message names the nearest metrics.
Result<ChangeGate> ParseGate(std::string_view text, const std::vector<std::string>& names);

// A metric that a gate looked at.
struct GateResult {
  // kInconclusive: the bounds include the limit or are unknown, or there is no such figure. It
  // counts as a failure too.
  enum class Outcome : uint8_t { kPassed, kBroken, kInconclusive };
  std::string gate, metric;
  Outcome outcome = Outcome::kPassed;
  std::optional<Change> change;
  bool counts = false;
  std::string why_none = {};  // why there is no `change`, and which figures there are
  bool of_new_value = false;  // the limit is for `change->now`
};
// In the order of the gates, then of the metrics. A part that neither side has counts as unchanged.
// A gate without a phase is judged for each phase that can be compared. It is inconclusive for a
// phase that has at least 8 steps in base and none in new. A figure without bounds is inconclusive,
// because it is unknown how much it differs between runs. Counts of kernels and of requests are
// judged by their values; with `without_bounds` all figures are.
std::vector<GateResult> Judge(const std::vector<ChangeGate>& gates, const RunChanges& changes,
                              bool without_bounds = false);

// The phases that gates without a phase leave out, each with the reason, as sentences.
std::vector<std::string> NotJudged(const std::vector<ChangeGate>& gates, const RunChanges& changes);

}  // namespace tacho
