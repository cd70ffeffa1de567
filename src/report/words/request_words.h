#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/request_analysis.h"

namespace tacho {

// What a part of a request's time is, in a few words for a legend.
std::string_view MeaningOf(RequestPart part);

// Why requests could not be joined with steps: "no trace names its steps"; "" if they could.
std::string_view WhyNotJoined(JoinWhy why);
// "done", "failed" or "cancelled".
std::string_view RequestStatusId(const RequestRow& row);
std::string_view JoinWhyId(JoinWhy why);  // "joined", "others", "no-requests", ...
// Why one request's time is not split; "" for kNothing.
std::string_view WhyNotSplit(RequestLacks lacks);

// "200 requests, 190 answered in full", "99.5 % of their tokens tied to the step that made them",
// "clocks right within 210 us".
std::vector<std::string> RequestFacts(const RequestAnalysis& requests);

// What the slowest requests have that the median ones have not, in one sentence; "" with too few.
std::string WhatSlowestHave(const RequestAnalysis& requests);

// Which requests the slowest and the median one are taken from: "of 12 whose steps are all known",
// "of 200".
std::string OfRequests(const std::vector<const RequestRow*>& by_e2e);

// "slowest 1 %", "p40 to p60, the median", "p90 to p99", "fastest 40 %"; the scenario's name.
std::string GroupName(const RequestGroup& group);

}  // namespace tacho
