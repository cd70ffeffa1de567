#pragma once

#include <string>

#include "analysis/analyze.h"
#include "report/documents/report_parts.h"

namespace tacho {

// The report of one trace. `ranks`: the ranks of its run, if the run has no other trace; reports
// the missing ones. `requests`: of the run.
Document TraceDocument(const TraceAnalysis& trace, const RankTable& ranks,
                       const ScreenOptions& options, const RequestAnalysis& requests = {});

// The ranks of a run side by side, and what they have in common.
Document RunDocument(const RunAnalysis& run, const ScreenOptions& options);

// The first screen: TraceDocument if one trace stands for the run (OnlyTrace), else RunDocument.
std::string AnalyzeText(const RunAnalysis& run, const ScreenOptions& options);

// What to show again when more ranks arrive: the ranks side by side, without the tables of
// AnalyzeText.
std::string RanksText(const RunAnalysis& run, const ScreenOptions& options);

// "only 10.0 ms to 20.0 ms of the trace"; "" for the whole trace.
std::string ScopeText(const TraceAnalysis& trace);

}  // namespace tacho
