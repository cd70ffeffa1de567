#pragma once

#include "analysis/analyze.h"
#include "report/documents/report_parts.h"
#include "text/document.h"

namespace tacho {

// Adds the requests of a run: how many of their tokens are tied to an engine step; the mean parts
// of their time, by band of latency and by scenario; and in which parts the slowest requests take
// longer than the median ones. Adds nothing if there are no requests.
void AddRequests(Document& document, const RequestAnalysis& requests);

// Adds the commands that show single requests. Call it after the options that show tables were
// added.
void AddRequestCommands(NextCommand& next, const RequestAnalysis& requests);

// Adds a line for each part that has time, with its meaning.
void AddRequestLegend(Document& document, const RequestAnalysis& requests);
void AddPartsLegend(Document& document, const RequestParts& sums);

// Adds the slowest and the median request side by side, part by part. Adds nothing unless two
// requests are answered in full and the slowest one is split into parts.
void AddSlowestBesideMedian(Document& document, const RequestAnalysis& requests);

}  // namespace tacho
