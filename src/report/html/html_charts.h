#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "report/html/drawings.h"

namespace tacho {

// Drawings of a report as inline SVG, with their labels as text beside them. Coordinates are
// percentages, pixels, or units of a stretched view box, so drawings fit any width without a
// script.

// A bar of parts that add up, and below it each part with its share and time.
std::string PartsChart(const std::string& title, const std::vector<PhaseTime::Part>& parts,
                       DurationNs total);

// A chart of how long each step takes on the host, in the order of time, coloured by phase. With
// more than 600 steps, each group of neighbours is shown by its longest step. "" for fewer than two
// steps.
std::string StepSeries(const std::vector<const Step*>& steps);
// For each phase with two steps or more, a curve: the share of its steps that take no longer than a
// given time.
std::string StepDistribution(const std::vector<const Step*>& steps);

// A chart of a device's allocated and reserved bytes over time. "" if no level is known.
std::string MemoryChart(const DeviceMemory& memory, const std::string& of_trace, TimeNs origin);

// `of_trace` names the trace, such as "rank 3, "; `origin`: the start of the trace.
std::string MiniTimelineChart(const MiniTimeline& timeline, const std::string& of_trace,
                              TimeNs origin);

// The CSS class of the colour of a phase or of a cause of idle time.
std::string PhaseClass(Phase phase);
std::string IdleClass(IdleCause cause);

}  // namespace tacho
