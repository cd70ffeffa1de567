#pragma once

#include "analysis/analyze.h"
#include "report/documents/report_parts.h"
#include "text/document.h"

namespace tacho {

// The requests of a run: how many tokens are tied to a step, the mean parts of their time by band
// and by scenario, what the slowest have that the median ones have not. Nothing without requests.
void AddRequests(Document& document, const RequestAnalysis& requests);

// The commands that show single requests, to be called after the options that show tables.
void AddRequestCommands(NextCommand& next, const RequestAnalysis& requests);

// What each part with time means.
void AddRequestLegend(Document& document, const RequestAnalysis& requests);
void AddPartsLegend(Document& document, const RequestParts& sums);

// The slowest request beside the one in the middle, part by part. Nothing unless there are two that
// are answered in full.
void AddSlowestBesideMedian(Document& document, const RequestAnalysis& requests);

}  // namespace tacho
