#pragma once

#include <string>

#include "analysis/findings/doubts.h"

namespace tacho {

// Why the verdict may be wrong: for example, events are missing, or the profiler slowed the host.
// "" if there is no such doubt.
std::string Caveat(const TraceAnalysis& trace);
std::string Caveat(const RunAnalysis& run);
// The caveat, but without the doubts that LossInWords names.
std::string CaveatBesideLoss(const RunAnalysis& run);

}  // namespace tacho
