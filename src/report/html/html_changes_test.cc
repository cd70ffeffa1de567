#include "report/html/html_changes.h"

#include <gmock/gmock.h>

#include <numeric>
#include <regex>

#include "report/html/html_report.h"
#include "report/results_for_test.h"

namespace tacho {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

PhaseChange DecodeForTest() {
  PhaseChange decode;
  decode.phase = Phase::kDecode;
  decode.steps = decode.shared_steps = {300, 280};
  decode.step = decode.mean = {1'450'000, 1'650'100, 20'000.0};
  decode.mix = {0, 0, 1.0};
  decode.parts = {{"idle.host-late", {4'000, 204'000, 300.0}},
                  {"gemm.dense", {1'440'000, 1'440'300, 2'000.0}},
                  {"norm", {6'000, 5'800, 100.0}}};
  decode.kernels.push_back(
      {"<b>kernel", "gemm.dense", KernelChange::Kind::kNew, {0, 9'000, 50.0}, 0, 1, 0, 0.5});
  return decode;
}
RunChanges ChangesOfDecode() {
  RunChanges changes;
  changes.base.paths = {"<i>base"};
  changes.now.paths = {"new"};
  changes.phases = {DecodeForTest()};
  return changes;
}

std::string ClassForTest(std::string_view part) { return part.starts_with("idle") ? "i0" : "w0"; }
size_t ColorForTest(std::string_view) { return 3; }

// The exact times in the rows of the drawing.
std::vector<int64_t> RowsOf(const std::string& html) {
  static const std::regex kRow("<b title=\"(-?[0-9]+) ns\">");
  std::vector<int64_t> rows;
  for (std::sregex_iterator at(html.begin(), html.end(), kRow), end; at != end; ++at)
    rows.push_back(std::stoll((*at)[1]));
  return rows;
}

TEST(WaterfallChart, AddsUpFromBaseToNew) {
  const Waterfall fall = WaterfallOf(DecodeForTest());
  const std::string html = WaterfallChart("title", fall, ClassForTest);
  const std::vector<int64_t> rows = RowsOf(html);
  ASSERT_EQ(rows.size(), 5u) << html;  // base, two beyond noise, the others, new
  EXPECT_EQ(rows.front(), 1'450'000);
  EXPECT_EQ(std::accumulate(rows.begin(), rows.end() - 1, int64_t{0}), rows.back());
  EXPECT_EQ(rows.back(), 1'650'100);
  EXPECT_THAT(html, HasSubstr("<rect class=\"i0\""));
  EXPECT_THAT(html, HasSubstr("+200 us"));
  EXPECT_THAT(html, Not(HasSubstr("not at 0")));
}

TEST(WaterfallChart, SaysWhereItsAxisStarts) {
  const Waterfall fall{1'000'000, 1'010'000, {{"norm", 10'000, true}}};
  const std::string html = WaterfallChart("title", fall, ClassForTest);
  EXPECT_THAT(html, HasSubstr("The axis starts at 990 us, not at 0."));
}

TEST(WaterfallChart, BarsStayInside) {
  // Bars that go down to zero and up again, beyond the larger of the two wholes.
  const Waterfall fall{100, 200, {{"a", -100, true}, {"b", 900, true}, {"c", -700, true}}};
  const std::string html = WaterfallChart("title", fall, ClassForTest);
  static const std::regex kBar("x=\"([0-9.]+)%\" y=\"3\" width=\"([0-9.]+)%\"");
  size_t bars = 0;
  for (std::sregex_iterator at(html.begin(), html.end(), kBar), end; at != end; ++at, ++bars)
    EXPECT_LE(std::stod((*at)[1]) + std::stod((*at)[2]), 100.02) << (*at)[0];
  EXPECT_EQ(bars, 5u);
}

TEST(WaterfallChart, OfNoPartIsEmpty) {
  EXPECT_EQ(WaterfallChart("title", {5, 5, {}}, ClassForTest), "");
}

TEST(WaterfallChart, WithoutBoundsShowsTheLargest) {
  Waterfall fall{0, 0, {}};
  for (int64_t i = 1; i <= 30; ++i) {
    fall.bars.push_back({"part", i, false});
    fall.now += i;
  }
  const std::vector<int64_t> rows = RowsOf(WaterfallChart("title", fall, ClassForTest));
  EXPECT_EQ(rows.size(), 17u);
  EXPECT_EQ(rows[1], 30);
  EXPECT_EQ(std::accumulate(rows.begin(), rows.end() - 1, int64_t{0}), rows.back());
}

TEST(ChangesHtml, HasVerdictDrawingAndTables) {
  const std::string html = ChangesHtml(ChangesOfDecode(), {}, ColorForTest);
  EXPECT_THAT(html, HasSubstr("<b>verdict</b> decode step 1.45 ms -&gt; 1.65 ms (+13.8 %"));
  EXPECT_THAT(html, HasSubstr("The mean decode step from base to new, part by part"));
  EXPECT_THAT(html, HasSubstr("<summary>What a decode step consists of</summary>"));
  EXPECT_THAT(html, HasSubstr("data-table=\"decode_kernels\""));
  EXPECT_THAT(html, Not(HasSubstr("<b>kernel")));
  EXPECT_THAT(html, Not(HasSubstr("<i>base")));
}

TEST(ChangesHtml, WithinNoiseHasNoDrawing) {
  RunChanges changes = ChangesOfDecode();
  for (NamedChange& part : changes.phases[0].parts) part.change.half_width = 1e9;
  changes.phases[0].step.half_width = 1e9;
  const std::string html = ChangesHtml(changes, {}, ColorForTest);
  EXPECT_THAT(html, Not(HasSubstr("<figure")));
  EXPECT_THAT(html, HasSubstr("data-table=\"steps\""));
}

TEST(ChangesHtml, OfWhatIsNotComparableHasTheReasonAlone) {
  RunChanges changes = ChangesOfDecode();
  changes.obstacles = {{"other-engine", "other engines: base vllm, new sglang"}};
  const std::string html = ChangesHtml(changes, {}, ColorForTest);
  EXPECT_THAT(html, HasSubstr("not comparable: other engines: base vllm, new sglang"));
  EXPECT_THAT(html, Not(HasSubstr("<figure")));
  EXPECT_THAT(html, Not(HasSubstr("<table")));
}

TEST(HtmlReportAgainst, HasASectionAndTheAnswer) {
  const RunChanges changes = ChangesOfDecode();
  HtmlReportInput input{
      .title = "run/", .version = "1.2", .changes = &changes, .against = "old & <run>"};
  input.color_of_category = ColorForTest;
  const std::string html = HtmlReport(OneTrace(), input);
  EXPECT_THAT(html, HasSubstr("<h2>What changed against old &amp; &lt;run&gt;</h2>"));
  EXPECT_THAT(html, HasSubstr("<strong>+13.8 %</strong> <span class=\"dim\">of 1.45 ms, the mean "
                              "decode step of the other run</span>"));
  EXPECT_THAT(html, ContainsRegex("Decode step 1.45 ms -&gt; 1.65 ms"));
  input.changes = nullptr;
  EXPECT_THAT(HtmlReport(OneTrace(), input), Not(HasSubstr("What changed against old")));
}

}  // namespace
}  // namespace tacho
