#pragma once

#include <string>
#include <vector>

#include "analysis/compare/gate.h"
#include "analysis/compare/run_changes.h"
#include "report/report_parts.h"

namespace tacho {

// What changed, in one sentence: "decode step 19.9 ms -> 17.2 ms (-13.6 % ± 0.8 %), 2.1 ms of it in
// moe.gemm". Where there are obstacles, it is the first of them.
std::string CompareVerdict(const RunChanges& changes);

// All of a comparison: the verdict, gates, steps by phase, the way from base to new by part, and
// kernels. `options.top`: rows of tables with a tail. `anyway`: obstacles are remarks.
Document CompareDocument(const RunChanges& changes, const std::vector<GateResult>& gates,
                         const ScreenOptions& options, bool anyway);

// "decode.step.p50 +5.1 % ± 0.4 % (19.9 ms -> 20.9 ms), over +3%".
std::string GateText(const GateResult& result);

// The figures of the comparison as one CSV table: metric, base, new, difference, bounds.
Table MetricsTable(const RunChanges& changes);

}  // namespace tacho
