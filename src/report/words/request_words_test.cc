#include "report/words/request_words.h"

#include <gmock/gmock.h>

#include <set>

#include "report/documents/explain_document.h"
#include "report/tables/result_tables.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RequestAnalysis WithSlowest() {
  RequestAnalysis requests;
  requests.why = JoinWhy::kJoined;
  requests.tied_share = 0.995;
  requests.clock_error = DurationNs{210'000};
  requests.bands.resize(5);
  RequestGroup& median = requests.bands[kMedianBand];
  median.count = 20;
  median.parts[RequestPart::kDecode] = {20'000'000};
  RequestGroup& slow = requests.bands[kSlowestBand];
  slow.count = 2;
  slow.parts[RequestPart::kDecode] = {24'000'000};
  slow.parts[RequestPart::kWaitPrefill] = {15'000'000};
  slow.parts[RequestPart::kSend] = {100'000};
  requests.slowest = SlowestHave{{19'100'000},
                                 {{RequestPart::kWaitPrefill, {15'000'000}},
                                  {RequestPart::kDecode, {4'000'000}},
                                  {RequestPart::kSend, {100'000}}},
                                 15,
                                 15};
  requests.rows.resize(3);
  requests.rows[0].whole = requests.rows[1].whole = true;
  return requests;
}

TEST(RequestWords, SayWhatTheSlowestHave) {
  RequestAnalysis requests = WithSlowest();
  EXPECT_EQ(WhatSlowestHave(requests),
            "the slowest 1 % (2 requests) took 39.1 ms, the median 20.0 ms: wait-prefill +15.0 ms, "
            "decode +4.00 ms");
  requests.slowest->tokens = 22;
  EXPECT_THAT(WhatSlowestHave(requests),
              HasSubstr("; their answers are longer, 22 tokens against 15"));
  requests.slowest.reset();
  EXPECT_EQ(WhatSlowestHave(requests), "");
}

TEST(RequestWords, SayHowFarTheRequestsAreJoined) {
  RequestAnalysis requests = WithSlowest();
  EXPECT_THAT(RequestFacts(requests),
              ElementsAre("3 requests, 2 answered in full",
                          "99.5 % of their tokens tied to the one step that made them",
                          "clocks right within 210 us"));
  requests.rows[0].lacks = RequestLacks::kRecorded;
  requests.rows[1].outside = {1'000};
  EXPECT_THAT(RequestFacts(requests)[0] + "; " + RequestFacts(requests)[1],
              "3 requests, 2 answered in full; 2 of the 3 while steps were recorded, 1 of these "
              "from start to end");
  requests.why = JoinWhy::kNoClock;
  EXPECT_THAT(RequestFacts(requests),
              ElementsAre("3 requests, 2 answered in full",
                          "not tied to engine steps: the clocks of client and engine are not "
                          "related"));
}

TEST(RequestWords, EachPartHasItsOwnNameAndMeaning) {
  std::set<std::string_view> ids, meanings;
  for (size_t i = 0; i < kRequestParts; ++i) {
    ids.insert(RequestPartId(static_cast<RequestPart>(i)));
    meanings.insert(MeaningOf(static_cast<RequestPart>(i)));
  }
  EXPECT_EQ(ids.size(), kRequestParts);
  EXPECT_EQ(meanings.size(), kRequestParts);
}

TEST(RequestWords, NameBands) {
  const auto name = [](double from, double to) {
    RequestGroup group;
    group.from = from;
    group.to = to;
    return GroupName(group);
  };
  EXPECT_EQ(name(0, 0.4), "fastest 40 %");
  EXPECT_EQ(name(0.4, 0.6), "p40 to p60, median");
  EXPECT_EQ(name(0.9, 0.99), "p90 to p99");
  EXPECT_EQ(name(0.99, 1), "slowest 1 %");
}

TEST(ExplainTarget, IsAStepAGapOrARequest) {
  const ExplainTarget step = ParseExplainTarget("w1/step:17");
  EXPECT_EQ(step.kind, ExplainTarget::Kind::kStep);
  EXPECT_EQ(step.number, 17u);
  EXPECT_EQ(step.of, "w1");
  const ExplainTarget gap = ParseExplainTarget("gap:3");
  EXPECT_EQ(gap.kind, ExplainTarget::Kind::kGap);
  EXPECT_EQ(gap.of, "");
  for (const char* id : {"tacho-1", "step:", "step:x", "mystep:3", "slowest", ""}) {
    EXPECT_EQ(ParseExplainTarget(id).kind, ExplainTarget::Kind::kRequest) << id;
    EXPECT_EQ(ParseExplainTarget(id).id, id);
  }
}

TEST(RequestsTable, HasThePartsOfEachRequestAndPutsTheSlowestFirst) {
  RequestAnalysis requests;
  for (int64_t i = 0; i < 3; ++i) {
    RequestRow& row = requests.rows.emplace_back();
    row.id = "r" + std::to_string(i);
    row.e2e = {i == 1 ? 900 : 100 * i};
    row.parts[RequestPart::kQueue] = row.e2e;
  }
  const Table own = RequestsTable(requests),
              slowest = RequestsTable(requests, {.slowest_first = true});
  EXPECT_EQ(std::get<std::string>(own.rows[0].cells[0]), "r0");
  EXPECT_EQ(std::get<std::string>(slowest.rows[0].cells[0]), "r1");
  requests.rows[1].outside = {1};
  const Table inside = RequestsTable(requests, {.slowest_first = true});
  EXPECT_EQ(std::get<std::string>(inside.rows[0].cells[0]), "r2") << "a part of r1 is not known";
  for (const TableRow& row : own.rows) EXPECT_EQ(row.cells.size(), own.columns.size());
}

}  // namespace
}  // namespace tacho
