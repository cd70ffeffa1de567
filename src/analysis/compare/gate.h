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
//   kernels.new            more than none; for numbers of kernels alone
//
// Units: %, ns, us, ms, s, and none for numbers of kernels and of the load without a time. Blanks
// may stand around the sign of comparison.
struct ChangeGate {
  std::string text, metric;      // metric: without a phase, of every phase
  bool above = true;             // fails above the limit, else below
  bool relative_to_base = true;  // the limit is of the difference, else of the new value
  bool percent = false;
  double limit = 0;  // a share, ns, or a number
};
// At most 200 bytes. `names`: MetricNames; unknown metrics are refused with the nearest names.
// kUsage.
Result<ChangeGate> ParseGate(std::string_view text, const std::vector<std::string>& names);

// A metric that a gate looked at.
struct GateResult {
  // kInconclusive: the bounds hold the limit or are not known, or there is no such figure. It fails
  // too.
  enum class Outcome : uint8_t { kPassed, kBroken, kInconclusive };
  std::string gate, metric;
  Outcome outcome = Outcome::kPassed;
  std::optional<Change> change;
  bool counts = false;
  std::string why_none = {};  // why there is no `change`, and what there is
  bool of_new_value = false;  // the limit is one of `change->now`
};
// In the order of the gates, then of the metrics. A part that no side has did not change. A gate
// without a phase is judged for each phase that can be compared. It is inconclusive for a phase
// that has at least 8 steps in base and none in new. A figure without bounds is inconclusive, for
// nobody knows how much it differs between runs; numbers of kernels and of requests, and with
// `without_bounds` all, are judged by their values.
std::vector<GateResult> Judge(const std::vector<ChangeGate>& gates, const RunChanges& changes,
                              bool without_bounds = false);

// The phases that gates without a phase leave out, each with the reason, as sentences.
std::vector<std::string> NotJudged(const std::vector<ChangeGate>& gates, const RunChanges& changes);

}  // namespace tacho
