#pragma once

#include <string>

#include "analysis/analyze.h"
#include "report/documents/report_parts.h"

namespace tacho {

// The report of one trace. If it is the run's only trace, `ranks` has the ranks of the run, so that
// missing ranks are reported. `requests`: the requests of the run.
Document TraceDocument(const TraceAnalysis& trace, const RankTable& ranks,
                       const ScreenOptions& options, const RequestAnalysis& requests = {});

// The ranks of a run side by side, and what they have in common.
Document RunDocument(const RunAnalysis& run, const ScreenOptions& options);

// The first screen: TraceDocument if one trace stands for the run (OnlyTrace), else RunDocument.
std::string AnalyzeText(const RunAnalysis& run, const ScreenOptions& options);

// What is printed if more ranks of a recording arrive after AnalyzeText was printed: only the ranks
// side by side.
std::string RanksText(const RunAnalysis& run, const ScreenOptions& options);

// Which part of the trace the figures cover: "only 10.0 ms to 20.0 ms of the trace"; "" for the
// whole trace.
std::string ScopeText(const TraceAnalysis& trace);

}  // namespace tacho
