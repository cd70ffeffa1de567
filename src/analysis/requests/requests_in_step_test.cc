#include "analysis/requests/requests_in_step.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tacho {
namespace {

// A request whose prompt the steps [first, token] may have read, and whose last token `last` made.
RequestRow RowOf(uint32_t trace, uint32_t first, uint32_t token, uint32_t last,
                 bool reads_known = true) {
  RequestRow row;
  row.trace = trace;
  row.first_step = first;
  row.token_step = token;
  row.last_step = last;
  row.reads_known = reads_known;
  row.steps_known = true;
  return row;
}

std::vector<std::pair<size_t, StepRole>> In(const RequestAnalysis& requests, uint32_t step) {
  std::vector<std::pair<size_t, StepRole>> found;
  for (const auto& [row, role] : RequestsInStep(requests, 0, step, {}))
    found.emplace_back(row, role);
  return found;
}

TEST(RequestsInStep, ThoseWhosePromptItReadsComeFirst) {
  RequestAnalysis requests;
  requests.rows = {RowOf(0, 0, 1, 9), RowOf(0, 2, 4, 9), RowOf(1, 0, 1, 9), RowOf(0, 4, 4, 4)};
  using enum StepRole;
  using Found = std::vector<std::pair<size_t, StepRole>>;
  EXPECT_EQ(In(requests, 0), (Found{{0, kReads}}));
  EXPECT_EQ(In(requests, 3), (Found{{1, kReads}, {0, kMakes}}));
  EXPECT_EQ(In(requests, 4), (Found{{1, kReadsAndMakes}, {3, kReadsAndMakes}, {0, kMakes}}));
  EXPECT_EQ(In(requests, 9), (Found{{0, kMakes}, {1, kMakes}}));
  EXPECT_EQ(In(requests, 10), (Found{}));
}

TEST(RequestsInStep, AStepThatPerhapsReadItIsLeftOut) {
  RequestAnalysis requests;
  requests.rows = {RowOf(0, 2, 4, 9, false), RequestRow{}};
  EXPECT_TRUE(In(requests, 3).empty());
  EXPECT_EQ(In(requests, 4).size(), 1u);
}

}  // namespace
}  // namespace tacho
