#pragma once

#include "analysis/analyze.h"
#include "session/proof/proof.h"

namespace tacho {

// What the proof needs from an analysed trace.
TraceEvidence EvidenceOf(const TraceAnalysis& trace);

}  // namespace tacho
