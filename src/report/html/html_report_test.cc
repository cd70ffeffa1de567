#include "report/html/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "report/html/html_page.h"
#include "report/results_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

HtmlReportInput Input() {
  HtmlReportInput input{.title = "run/", .command = "tacho report run/", .version = "1.2"};
  input.color_of_category = [](std::string_view category) -> size_t {
    return category.starts_with("gemm") ? 0 : 4;
  };
  return input;
}

TEST(HtmlReport, HoldsWhatTheScreensSay) {
  const std::string html = HtmlReport(OneTrace(), Input());
  EXPECT_THAT(html, StartsWith(std::string(kHtmlReportBegin)));
  EXPECT_THAT(html, HasSubstr("<h1>GPU busy 60.0 % of 1.00 ms"));
  EXPECT_THAT(html, HasSubstr("<div id=\"answer-drift\">"));
  EXPECT_THAT(html, HasSubstr("<i class=\"w0\"></i>gemm&lt;128"));
  EXPECT_THAT(html, HasSubstr("compute 55.0 % + exposed copies 5.0 % + idle 40.0 % = window of "
                              "1.00 ms"));
  EXPECT_THAT(html, HasSubstr("<code>tacho report run/</code>"));
  EXPECT_THAT(html, HasSubstr("<a download=\"kernels.csv\" href=\"data:text/csv;base64,"));
  for (const char* section : {"By phase and category", "Steps", "Longest gaps", "Kernels", "Host",
                              "Notes", "About this report"})
    EXPECT_THAT(html, HasSubstr(std::string("<h2>") + section + "</h2>"));
}

TEST(HtmlReport, ARunHasItsRanksAndTheirGaps) {
  const std::string html = HtmlReport(TwoRanksForTest(), Input());
  EXPECT_THAT(html, HasSubstr("<h2>Ranks</h2>"));
  EXPECT_THAT(html, HasSubstr("<details><summary>"));
  EXPECT_THAT(html, HasSubstr("computes longest"));
  EXPECT_THAT(html,
              testing::ContainsRegex("<td class=\"t\"><i class=\"i[0-9]+\"></i>host-late</td>"));
}

TEST(HtmlReport, ReachesNoOtherPlace) {
  RunAnalysis run = TwoRanksForTest();
  run.traces[0].kernels.rows[0].name = "</script><img src=x onerror=alert(1)>";
  run.traces[0].idle.gaps[0].host = "\"><script>alert(1)</script>";
  const std::string html = HtmlReport(run, Input());
  for (const char* reference :
       {"http:", "https:", "src=x onerror=alert(1)>", "<img", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  size_t scripts = 0;
  for (size_t at = html.find("<script"); at != std::string::npos; at = html.find("<script", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 1U);
}

TEST(HtmlReport, RanksInFullAreLimited) {
  RunAnalysis run = TwoRanksForTest();
  EXPECT_THAT(HtmlReport(run, Input()), Not(HasSubstr("tacho analyze --rank")));
  // As many kernels and gaps as a real rank has.
  TraceAnalysis& large = run.traces[1];
  for (int i = 0; i < 100; ++i) {
    large.kernels.rows.push_back(large.kernels.rows[0]);
    large.kernels.rows.back().name = "kernel_" + std::to_string(i) + std::string(300, 'x');
    large.idle.gaps.push_back(large.idle.gaps[0]);
  }
  while (run.traces.size() < 64) run.traces.push_back(run.traces[1]);
  const std::string html = HtmlReport(run, Input());
  EXPECT_LT(html.size(), 1'000'000u);
  EXPECT_THAT(html, HasSubstr(" others]: tacho analyze --rank shows each</p>"));
}

// Prints the page as shown: nothing is unfolded for paper.
TEST(HtmlReport, PrintsWhatIsOpen) {
  const std::string html = HtmlReport(OneTrace(), Input());
  EXPECT_THAT(html, HasSubstr("@media print{@page{size:A4"));
  EXPECT_THAT(html, Not(HasSubstr("beforeprint")));
}

TEST(HtmlReport, AShareIsNoMarkup) {
  RunAnalysis run = OneTrace();
  run.traces[0].devices[0].exposed_copy = DurationNs{1};
  EXPECT_THAT(HtmlReport(run, Input()), HasSubstr("<b>&lt;0.1 %</b>"));
}

TEST(HtmlReport, NoTraceIsAPageToo) {
  EXPECT_THAT(HtmlReport({}, Input()), HasSubstr("no trace could be read"));
}

}  // namespace
}  // namespace tacho
