#pragma once

#include <string>

#include "analysis/findings/doubts.h"

namespace tacho {

// Why the verdict may be wrong: events are missing, or the profiler slowed the host. "" if nothing
// speaks against it.
std::string Caveat(const TraceAnalysis& trace);
std::string Caveat(const RunAnalysis& run);
// Without what LossInWords says of the run.
std::string CaveatBesideLoss(const RunAnalysis& run);

}  // namespace tacho
