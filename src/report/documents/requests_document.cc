#include "report/documents/requests_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/tables/result_tables.h"
#include "report/words/request_words.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {

void AddRequests(Document& document, const RequestAnalysis& requests) {
  if (!requests.any()) return;
  if (requests.bands.empty()) {
    document.AddPart(Heading{Heading::Level::kPart, "Requests"});
  } else {
    document.AddPart(
        TitledTable{.table = RequestGroupsTable(requests, "requests"), .title = "Requests"});
  }
  document.Add(Paragraph{fmt::format("{}", fmt::join(RequestFacts(requests), "; "))});
  if (const std::string sentence = WhatSlowestHave(requests); !sentence.empty())
    document.Add(Paragraph{sentence});
}

void AddRequestCommands(NextCommand& next, const RequestAnalysis& requests) {
  if (!requests.any()) return;
  next.options.push_back({"--requests", "each request and what its time went to"});
  constexpr std::string_view kAnalyze = "tacho analyze ";
  if (requests.bands.empty() || !next.command.starts_with(kAnalyze)) return;
  next.others.push_back(
      {fmt::format("tacho explain {} slowest", next.command.substr(kAnalyze.size())),
       "the slowest request in full"});
}

void AddRequestLegend(Document& document, const RequestAnalysis& requests) {
  RequestParts sums;
  for (const RequestRow& row : requests.rows) sums.Add(row.parts);
  AddPartsLegend(document, sums);
}

void AddPartsLegend(Document& document, const RequestParts& sums) {
  size_t widest = 0;
  for (size_t i = 0; i < kRequestParts; ++i) {
    if (sums.ns[i].ns > 0)
      widest = std::max(widest, RequestPartId(static_cast<RequestPart>(i)).size());
  }
  for (size_t i = 0; i < kRequestParts; ++i) {
    const auto part = static_cast<RequestPart>(i);
    if (sums.ns[i].ns > 0)
      document.AddForScreen(
          Paragraph{fmt::format("{}  {}", PadRight(RequestPartId(part), widest), MeaningOf(part)),
                    Paint::kDim, widest + 3});
  }
}

void AddSlowestBesideMedian(Document& document, const RequestAnalysis& requests) {
  const std::vector<const RequestRow*> whole = RequestsByE2e(requests);
  if (whole.size() < 2 || whole.back()->lacks != RequestLacks::kNothing) return;
  const RequestRow &slowest = *whole.back(), &median = *whole[(whole.size() - 1) / 2];
  document.AddPart(
      TitledTable{.table = RequestsBesideTable({&slowest, &median}, {"slowest", "median"}),
                  .title = "The slowest request beside the median one, " + OfRequests(whole)});
  for (const auto& [name, row] : {std::pair("slowest", &slowest), std::pair("median", &median)}) {
    document.Add(Paragraph{fmt::format("{}: {}{}, {}, TTFT {}, {} in all", name, row->id,
                                       row->scenario.empty() ? "" : " (" + row->scenario + ")",
                                       FormatCounted(row->tokens, "token"),
                                       FormatDuration(row->ttft.value_or(DurationNs{})),
                                       FormatDuration(row->e2e))});
  }
}

}  // namespace tacho
