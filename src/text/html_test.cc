#include "text/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Html, NothingInATextIsMarkup) {
  EXPECT_EQ(HtmlText("<img src=x onerror=\"a('b')\">&amp;"),
            "&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;amp;");
  EXPECT_EQ(HtmlText("a\x1b[31m\n\xff\u202e"), "a\\x1b[31m\\n\xef\xbf\xbd\\u202e");
}

Table NamesAndTimes() {
  Table table{"kernels",
              {TableColumn{"name", "name"}.Stretches().Distinct(),
               TableColumn{"", "", Unit::kBar}.ScreenOnly(),
               TableColumn{"total_ns", "total", Unit::kDuration}.Adds()},
              {}};
  table.Add({"<script>alert(1)</script>", 0.75, int64_t{30'000}});
  table.Add({std::string(600, 'x'), 0.25, int64_t{10'000}}, Paint::kRed);
  return table;
}

TEST(Html, ATableHasItsUnitsInTheHeadAndHostileNamesAsText) {
  HtmlStyle style;
  style.mark = [](const Table&, const TableRow& row) {
    return row.paint == Paint::kRed ? "" : std::string("w1");
  };
  const std::string html = RenderHtml(NamesAndTimes(), style);
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\">total us</th>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"t k\"><i class=\"w1\"></i>&lt;script&gt;alert(1)&lt;"
                              "/script&gt;</td>"));
  EXPECT_THAT(html, HasSubstr("<rect class=\"w1\" width=\"75.0\" height=\"8\"/>"));
  EXPECT_THAT(html, HasSubstr("<tr class=\"bad\">"));
  EXPECT_THAT(html, HasSubstr("title=\"xxx"));
  EXPECT_THAT(html, Not(HasSubstr(std::string(401, 'x'))));
}

TEST(Html, ADocumentIsWhatMarkdownHasButHeadings) {
  Document document;
  document.Add(Labelled{"VERDICT", {"busy", "", "a < b"}, Paint::kBold});
  document.Add(Remark{"note", ": text", "; advice", Paint::kYellow});
  document.Add(Remark{"", "more"});
  document.AddForScreen(Paragraph{"of a terminal"});
  document.AddPart(TitledTable{.table = NamesAndTimes(), .title = "Kernels"});
  const std::string html = RenderHtml(document, {});
  EXPECT_THAT(html, HasSubstr("<p class=\"strong\"><b>verdict</b> busy · a &lt; b</p>"));
  EXPECT_THAT(
      html,
      HasSubstr("<ul>\n<li class=\"warn\"><b>note</b>: text; advice</li>\n<li>more</li>\n</ul>"));
  EXPECT_THAT(html,
              HasSubstr("<h3>Kernels</h3>\n<div class=\"scroll\"><table data-table=\"kernels\""));
  EXPECT_THAT(html, Not(HasSubstr("terminal")));
}

TEST(Html, StackedPartsFollowEachOther) {
  EXPECT_EQ(HtmlStackedBar({{0.25, "s0", ""}, {0, "s1", ""}, {0.5, "s2", "idle 50 %"}}),
            "<svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\">"
            "<rect class=\"s0\" x=\"0.00\" width=\"25.00\" height=\"8\"></rect>"
            "<rect class=\"s2\" x=\"25.00\" width=\"50.00\" height=\"8\"><title>idle 50 %</title>"
            "</rect></svg>");
}

}  // namespace
}  // namespace tacho
