#pragma once

#include <string>

#include "analysis/compare/gate.h"
#include "analysis/compare/run_changes.h"

namespace tacho {

// What changed, in one sentence: "decode step 19.9 ms -> 17.2 ms (-13.6 % ± 0.8 %), -2.1 ms of it
// in moe.gemm; prefill: no difference beyond noise". Steps are compared at equal batch. If there
// are obstacles, the sentence is "not comparable" and the first obstacle.
std::string CompareVerdict(const RunChanges& changes);

// A time with its sign: "+1.2 ms".
std::string SignedTime(double ns);
// A change with its bounds: "-13.6 % ± 0.8 %"; if base is 0, the difference as a time.
std::string DifferenceText(const Change& change);

// The outcome of a gate: "failed: decode.step.p50>+3%: decode.step.p50 19.9 ms -> 20.9 ms (+5.1 % ±
// 0.4 %)".
std::string GateText(const GateResult& result);

}  // namespace tacho
