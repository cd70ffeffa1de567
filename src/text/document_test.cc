#include "text/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;
using Level = Heading::Level;

Table NumbersTable(std::vector<int64_t> numbers) {
  Table table{"numbers",
              {TableColumn{"name", "name"}, TableColumn{"count", "n", Unit::kCount}.Adds(),
               TableColumn{"", "", Unit::kBar}.ScreenOnly()},
              {}};
  for (const int64_t number : numbers) table.Add({"n" + std::to_string(number), number, Cell()});
  return table;
}

Document SmallDocument() {
  Document document;
  document.Add(Subject{"trace", "a_b.json", {"rank 0", "", "2 events"}});
  document.AddForScreen(Labelled{"only", {"here"}});
  document.AddPart(Labelled{"VERDICT", {"GPU busy"}, Paint::kBold});
  document.AddPart(TitledTable{.table = NumbersTable({3, 2, 1}), .title = "Top", .screen_rows = 1});
  document.AddPart(TitledTable{.table = NumbersTable({}), .title = "None"});
  document.AddPart(Heading{Level::kPart, "Notes"});
  document.Add(Remark{"odd-number", " (1): at <x>", "; none needed"});
  document.Add(Remark{"", "cannot tell: why"});
  document.AddPart(NextCommand{
      "tacho", {{"-w", "all"}, {"--json", "more"}}, {{"tacho x", "one"}, {"tacho y", "two"}}});
  return document;
}

TEST(Document, Text) {
  EXPECT_EQ(RenderText(SmallDocument(), {}), R"( trace    a_b.json
          rank 0 · 2 events
 only     here

 VERDICT  GPU busy

 TOP         n
 n3          3
 [2 others]  3

 NOTES
 odd-number (1): at <x>; none needed
 cannot tell: why

next:  tacho
         -w      all
         --json  more
       tacho x  one
       tacho y  two
)");
}

TEST(Document, Markdown) {
  EXPECT_EQ(RenderMarkdown(SmallDocument(), 2), R"(### a\_b.json

- trace: rank 0, 2 events
- **verdict: GPU busy**

**Top**

| name | n |
| :-- | --: |
| n3 | 3 |
| n2 | 2 |
| n1 | 1 |

**Notes**

- **odd-number** (1): at &lt;x>
- cannot tell: why
)");
  EXPECT_THAT(RenderMarkdown(SmallDocument(), 1), HasSubstr("| n3 | 3 |\n| \\[2 others] | 3 |\n"));
}

TEST(Document, TablesAsFilesAndAsJsonHaveAllRows) {
  Document document;
  document.Add(TablePair{
      {.table = NumbersTable({3, 2, 1}), .screen_rows = 1}, {.table = NumbersTable({})}, "total"});
  using File = std::pair<std::string, std::string>;
  EXPECT_THAT(RenderCsv(document),
              testing::ElementsAre(File{"numbers.csv", "name,count\nn3,3\nn2,2\nn1,1\n"},
                                   File{"numbers.csv", "name,count\n"}));
  document.blocks.clear();
  Table table = NumbersTable({3});
  table.Add({"", Cell(), 0.5});
  document.Add(TitledTable{std::move(table)});
  EXPECT_EQ(nlohmann::json::parse(RenderJson(document)), nlohmann::json::parse(R"({"tables": [
      {"name": "numbers",
       "columns": [{"key": "name", "unit": "text"}, {"key": "count", "unit": "count"}],
       "rows": [{"name": "n3", "count": 3}, {}]}]})"));
}

TEST(Document, APairStandsBesideEachOtherWhereItFits) {
  Document document;
  document.Add(
      TablePair{{.table = NumbersTable({30, 20, 10})}, {.table = NumbersTable({5})}, "sum"});
  EXPECT_EQ(RenderText(document, {.width = 20}),
            " name   n   name  n\n"
            " n30   30   n5    5\n"
            " n20   20\n"
            " n10   10\n"
            " sum\n");
  EXPECT_EQ(RenderText(document, {.width = 18}),
            " name   n\n n30   30\n n20   20\n n10   10\n\n name  n\n n5    5\n sum\n");
  EXPECT_THAT(RenderMarkdown(document), HasSubstr("| n10 | 10 |\n\nsum\n\n| name |"));
}

TEST(Document, RowsThatAreCutAreNotMentioned) {
  Document document;
  document.Add(TitledTable{
      .table = NumbersTable({3, 2, 1}), .screen_rows = 1, .markdown_rows = 2, .cut = true});
  EXPECT_EQ(RenderText(document, {}), " name  n\n n3    3\n");
  EXPECT_EQ(RenderMarkdown(document, 1), "| name | n |\n| :-- | --: |\n| n3 | 3 |\n| n2 | 2 |\n");
}

TEST(Document, LinesOfADrawing) {
  Document document;
  document.Add(DrawnLine{"", {0.5}, "50 %"});
  document.Add(DrawnLine{"steps |", {1, 0, 1}, "|"});
  EXPECT_EQ(RenderText(document, {.unicode = false}, {.margin = 2}),
            "  " + std::string(20, '#') + std::string(20, ' ') + "50 %\n  steps |#.#|\n");
  EXPECT_EQ(RenderMarkdown(document), "");
}

TEST(Document, TheVerdictStandsAgainUnderLongTextsAlone) {
  for (const size_t lines : {40u, 41u}) {
    Document document;
    for (size_t i = 0; i < lines; ++i) document.Add(Gap{});
    document.Add(SaidAgain{"VERDICT", "busy", "brief"});
    EXPECT_EQ(RenderText(document, {}),
              std::string(lines, '\n') + (lines == 40 ? "" : "\n VERDICT  busy\n"));
  }
}

// Whatever stands in a trace, no renderer lets it become more than text.
TEST(Document, NamesStayNames) {
  const std::string name = "\x1b[31m<b>|_\n";
  Table table{"t", {TableColumn{"name", "name"}}, {}};
  table.Add({name});
  Document document;
  for (const Level level : {Level::kTitle, Level::kSection, Level::kName, Level::kPart})
    document.Add(Heading{level, name});
  document.Add(Subject{name, name, {name}});
  document.Add(Labelled{name, {name}});
  document.Add(Paragraph{name});
  document.Add(Remark{name, name, name});
  document.Add(TitledTable{.table = table, .title = name});
  const std::string text = RenderText(document, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("_\n\n")));
  const std::string markdown = RenderMarkdown(document);
  EXPECT_THAT(markdown, Not(HasSubstr("\x1b")));
  EXPECT_THAT(markdown, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace tacho
