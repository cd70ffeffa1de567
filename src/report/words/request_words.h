#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/request_analysis.h"

namespace tacho {

// What this part of a request's time means, in a few words for a legend.
std::string_view MeaningOf(RequestPart part);

// Why requests could not be joined with engine steps: "no trace names its steps and the requests in
// them"; "" if they could.
std::string_view WhyNotJoined(JoinWhy why);
// "done", "failed" or "cancelled".
std::string_view RequestStatusId(const RequestRow& row);
std::string_view JoinWhyId(JoinWhy why);  // "joined", "others", "no-requests", ...
// Why the time of a request is not split into parts; "" if it is.
std::string_view WhyNotSplit(RequestLacks lacks);

// Facts about the requests: "200 requests, 190 answered in full", "99.5 % of their tokens tied to
// the one step that made them", "clocks right within 210 us".
std::vector<std::string> RequestFacts(const RequestAnalysis& requests);

// One sentence: in which parts the slowest requests take longer than the median ones. "" if there
// are too few requests.
std::string WhatSlowestHave(const RequestAnalysis& requests);

// Among which requests the slowest and the median one were found: "of 12 whose steps are all
// known", "of 200".
std::string OfRequests(const std::vector<const RequestRow*>& by_e2e);

// The name of a band or of a scenario. Bands: "slowest 1 %", "p40 to p60, median", "p90 to p99",
// "fastest 40 %".
std::string GroupName(const RequestGroup& group);

}  // namespace tacho
