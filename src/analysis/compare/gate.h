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
//   decode.step>20ms       without a sign: the new value is above 20 ms
//   load.throughput<-2%    fell by more than 2 %
//   kernels.new            there is any new kernel; only counts of kernels need no limit
//
// Units: %, ns, us, ms or s; none for counts of kernels and for load metrics that are not times.
// There may be blanks around > and <.
struct ChangeGate {
  std::string text, metric;      // a metric without a phase applies to every phase
  bool above = true;             // true: fails above the limit; false: below
  bool relative_to_base = true;  // true: the limit is for the difference; false: for the new value
  bool percent = false;
  double limit = 0;  // a share of base if `percent`, else ns or a number
};
// `text`: at most 200 bytes. `names`: the result of MetricNames. Fails with kUsage if `text` is not
// a valid gate or its metric is unknown; the message then names the nearest metric.
Result<ChangeGate> ParseGate(std::string_view text, const std::vector<std::string>& names);

// The result of a gate for one metric.
struct GateResult {
  // kInconclusive: the bounds include the limit or are unknown, or the figure does not exist. This
  // counts as a failure too.
  enum class Outcome : uint8_t { kPassed, kBroken, kInconclusive };
  std::string gate, metric;
  Outcome outcome = Outcome::kPassed;
  std::optional<Change> change;
  bool counts = false;        // `change` is a number of kernels, not ns
  std::string why_none = {};  // why `change` is absent, and which figures exist
  bool of_new_value = false;  // the limit is for `change->now`
};
// Results are in the order of the gates, then of the metrics. A part that neither side has counts
// as unchanged. A gate without a phase is judged for each phase that can be compared, and is
// inconclusive for a phase that has at least 8 steps in base and none in new. A figure without
// bounds is inconclusive, because it is unknown how much it differs between runs. But counts of
// kernels and of failed requests are judged by their values; with `without_bounds`, all figures
// are.
std::vector<GateResult> Judge(const std::vector<ChangeGate>& gates, const RunChanges& changes,
                              bool without_bounds = false);

// One sentence for each phase that gates without a phase do not judge, with the reason.
std::vector<std::string> NotJudged(const std::vector<ChangeGate>& gates, const RunChanges& changes);

}  // namespace tacho
