#pragma once

#include "analysis/analyze.h"
#include "session/proof/proof.h"

namespace tacho {

// Takes from an analysed trace what the proof needs.
TraceEvidence EvidenceOf(const TraceAnalysis& trace);

}  // namespace tacho
