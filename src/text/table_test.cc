#include "text/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

Table SmallTable() {
  Table table{"small",
              {TableColumn{"name", "NAMES"}.Stretches(), TableColumn{"whole", ""}.FileOnly(),
               TableColumn{"", "", Unit::kBar}.ScreenOnly(),
               TableColumn{"total_ns", "total", Unit::kDuration}.Adds(),
               TableColumn{"share", "sum", Unit::kShare}.Adds(),
               TableColumn{"bytes", "bytes", Unit::kBytes},
               TableColumn{"count", "count", Unit::kCount}.Adds()},
              {}};
  table.Add({"alpha", "alpha,<1>", 0.75, 75'000, 0.75, 2'000, 1'000});
  table.Add({"beta", "be\"ta", 0.20, 20'000, 0.20, Cell(), 2});
  table.Add({"gamma", "gamma", 0.05, 5'000, 0.05, Cell(), 3});
  return table;
}

TEST(Table, NamesWhatItHasNoRoomFor) {
  Table table{"t", {}, {}};
  for (const char* name : {"first", "second", "third"})
    table.columns.push_back({name, name, Unit::kExact});
  table.Add({1'000'000'000, 1'000'000'000, 1'000'000'000});
  EXPECT_EQ(RenderText(table, {.width = 30, .wide_option = "--wide"}),
            "      first      second\n 1000000000  1000000000\n left out: third (--wide)\n");
  EXPECT_EQ(RenderText(table, {.width = 25, .wide_option = "--wide"}),
            "      first      second\n 1000000000  1000000000\n left out: third (--wide)\n");
  EXPECT_EQ(RenderText(table, {.width = 30, .whole_names = true}).find("left out"),
            std::string::npos);
}

// A name that is cut, or two that run into one, would look like a column that does not exist.
TEST(Table, NamesOfLeftOutColumnsAreWholeOrCounted) {
  Table table{"t", {}, {{}}};
  for (const char* name : {"first", "second", "third", "fourth", "fifth", "sixth", "seventh"}) {
    table.columns.push_back({name, name, Unit::kExact});
    table.rows[0].cells.emplace_back(1'000'000'000);
  }
  const auto last_line = [&](size_t width) {
    return RenderLines(table, {.width = width, .wide_option = "--wide"}).back();
  };
  EXPECT_EQ(last_line(30).text, " left out: 5 columns (--wide)");
  EXPECT_EQ(last_line(40).text, " left out: fourth, and 3 more (--wide)");
  EXPECT_EQ(last_line(46).text, " left out: fourth, fifth, and 2 more (--wide)");
  EXPECT_EQ(last_line(50).text, " left out: fifth, sixth, seventh (--wide)");
}

// Holds for any columns, as long as the first one fits.
TEST(Table, IsNeverWiderThanItsLine) {
  for (size_t columns = 1; columns < 24; ++columns) {
    for (size_t variant = 0; variant < 8; ++variant) {
      Table table{"t", {}, {{}}};
      for (size_t i = 0; i < columns; ++i) {
        TableColumn column{"key" + std::to_string(i), "column", Unit::kText};
        column.stretches = i == 0 || (variant & 1) != 0;
        column.gives_way = (variant & 2) != 0 && i % 3 == 1;
        column.distinct = (variant & 4) != 0;
        table.columns.push_back(column);
        table.rows[0].cells.emplace_back(std::string(5 + 7 * i % 40, 'x'));
      }
      for (const size_t width : {80u, 100u, 250u}) {
        const std::vector<TextLine> lines = RenderLines(table, TextStyle{.width = width});
        for (const TextLine& line : lines) EXPECT_LE(line.width, width);
        EXPECT_TRUE(lines[1].text.starts_with(" xxx"));
      }
    }
  }
}

// A column that is left out gives its room to the others.
TEST(Table, LeavesOutRatherThanCutsToNothing) {
  Table table{"t",
              {TableColumn{"a", "a"}, TableColumn{"b", "b"}.Stretches(),
               TableColumn{"c", "c"}.Stretches().GivesWay()},
              {}};
  table.Add({std::string(60, 'a'), std::string(19, 'b'), std::string(19, 'c')});
  EXPECT_EQ(RenderText(table, TextStyle{.width = 80}),
            " a" + std::string(61, ' ') + "b\n " + std::string(60, 'a') +
                "  bbbbbbbbbbb…bbbbb\n left out: c (COLUMNS=200 shows them)\n");
}

TEST(Table, Text) {
  EXPECT_EQ(RenderText(SmallTable(), {}),
            " NAMES                total us  sum %    bytes  count\n"
            " alpha  █████████         75.0   75.0  2.00 kB  1,000\n"
            " beta   ██▍               20.0   20.0               2\n"
            " gamma  ▋                 5.00    5.0               3\n");
}

TEST(Table, AsciiWithoutUnicode) {
  TextStyle style;
  style.unicode = false;
  EXPECT_EQ(RenderText(SmallTable(), style),
            " NAMES                total us  sum %    bytes  count\n"
            " alpha  #########         75.0   75.0  2.00 kB  1,000\n"
            " beta   ##                20.0   20.0               2\n"
            " gamma  #                 5.00    5.0               3\n");
}

TEST(Table, FoldedRowsAreSummedUp) {
  Table table = SmallTable();
  FoldRows(table, 1);
  EXPECT_EQ(RenderText(table, {}),
            " NAMES                     total us  sum %    bytes  count\n"
            " alpha       █████████         75.0   75.0  2.00 kB  1,000\n"
            " [2 others]                    25.0   25.0               5\n");
}

TEST(Table, WhatNoFoldedRowKnowsStaysUnknown) {
  Table table{"t",
              {TableColumn{"name", "N"}, TableColumn{"bytes", "bytes", Unit::kBytes}.Adds(),
               TableColumn{"share", "share", Unit::kShare}.Adds()},
              {}};
  table.Add({"a", 5, 0.5});
  table.Add({"b", Cell(), Cell()});
  table.Add({"c", Cell(), Cell()});
  FoldRows(table, 1);
  EXPECT_EQ(table.rows[1].cells[1], Cell());
  EXPECT_EQ(table.rows[1].cells[2], Cell());
}

TEST(Table, OneRowTooManyIsKept) {
  Table table = SmallTable();
  FoldRows(table, 2);
  EXPECT_EQ(table.rows.size(), 3u);
}

TEST(FoldRows, LastRowsThatAreNeverFoldedStandBelowTheSum) {
  Table table = SmallTable();
  table.never_folded = 1;
  FoldRows(table, 1);
  EXPECT_EQ(table.rows.size(), 3u) << "one row too many is kept";
  FoldRows(table, 0);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].cells[3], Cell(95'000));
  EXPECT_EQ(table.rows[1].cells[0], Cell("gamma"));
}

TEST(Table, SaysWhatTheMarksOfAStackedColumnStandFor) {
  Table table{"t",
              {TableColumn{"name", "NAME"}.Stretches(),
               TableColumn{"", "window", Unit::kStacked}.ScreenOnly().GivesWay()},
              {}};
  table.columns[1].marks = {"busy", "idle"};
  table.Add({std::string(40, 'x'), std::vector<double>{0.5, 0.5}});
  const TextStyle style{.width = 80, .unicode = false};
  EXPECT_THAT(RenderText(table, style), testing::EndsWith("\n # busy  = idle\n"));
  EXPECT_THAT(RenderText(table, TextStyle{.width = 25}), testing::Not(testing::HasSubstr("idle")));
}

TEST(Table, NamesGiveWayToTheWidth) {
  Table table = SmallTable();
  table.rows[0].cells[0] = std::string(80, 'x');
  TextStyle style;
  style.width = 60;
  for (const TextLine& line : RenderLines(table, style)) EXPECT_LE(line.width, 60u) << line.text;
  style.whole_names = true;
  EXPECT_THAT(RenderText(table, style), testing::HasSubstr(std::string(80, 'x')));
}

TEST(Table, ColumnsOfAGroupShareTheirUnit) {
  Table table{"t",
              {TableColumn{"name", "N"}, TableColumn{"a_ns", "a", Unit::kDuration},
               TableColumn{"b_ns", "b", Unit::kDuration},
               TableColumn{"c_ns", "c", Unit::kDuration}.UnitGroup(1),
               TableColumn{"d_ns", "d", Unit::kDuration}.FileOnly()},
              {}};
  table.Add({"x", 70'000'000, 5'000, 5'000, int64_t{9'000'000'000'000}});
  table.Add({"y", 80'000'000, 6'000'000, 6'000, 1});
  EXPECT_EQ(RenderText(table, {}),
            " N  a ms   b ms   c ns\n"
            " x  70.0  0.005  5,000\n"
            " y  80.0   6.00  6,000\n");
}

TEST(Table, DistinctCellsLookDifferentHoweverNarrow) {
  Table table{"t", {TableColumn{"name", "N"}.Stretches().Distinct()}, {}};
  for (const char* end : {"a_x", "b_x", "c_x"}) {
    table.Add({std::string(60, 'k') + end + std::string(60, 'k')});
  }
  TextStyle style;
  style.width = 40;
  const std::vector<TextLine> lines = RenderLines(table, style);
  EXPECT_THAT(lines[1].text, testing::HasSubstr("a_x"));
  EXPECT_THAT(lines[2].text, testing::HasSubstr("b_x"));
  EXPECT_THAT(lines[3].text, testing::HasSubstr("c_x"));
  for (const TextLine& line : lines) EXPECT_LE(line.width, 40u);
}

TEST(Table, Csv) {
  EXPECT_EQ(RenderCsv(SmallTable()),
            "name,whole,total_ns,share,bytes,count\n"
            "alpha,\"alpha,<1>\",75000,0.750000,2000,1000\n"
            "beta,\"be\"\"ta\",20000,0.200000,,2\n"
            "gamma,gamma,5000,0.050000,,3\n");
}

TEST(Table, CsvHasNoNegativeZero) {
  Table table = SmallTable();
  table.rows[0].cells[3] = -1e-9;
  EXPECT_THAT(RenderCsv(table), testing::HasSubstr("\"alpha,<1>\",0.000000,0.750000,"));
}

TEST(Table, MarkdownKeepsTemplateArguments) {
  Table table = SmallTable();
  table.rows[0].cells[0] = "f<a|b>_c";
  EXPECT_EQ(RenderMarkdown(table),
            "| NAMES | total us | sum % | bytes | count |\n"
            "| :-- | --: | --: | --: | --: |\n"
            "| f&lt;a\\|b>\\_c | 75.0 | 75.0 | 2.00 kB | 1,000 |\n"
            "| beta | 20.0 | 20.0 |  | 2 |\n"
            "| gamma | 5.00 | 5.0 |  | 3 |\n");
}

TEST(Table, MarkdownHasNoDrawings) {
  Table table{"t",
              {TableColumn{"name", "N"}, TableColumn{"", "bar", Unit::kBar}.ScreenOnly(),
               TableColumn{"", "trend", Unit::kTrend}.ScreenOnly(),
               TableColumn{"", "parts", Unit::kStacked}.ScreenOnly()},
              {}};
  table.Add({"a", 0.5, std::vector<double>{1, 2}, std::vector<double>{0.5, 0.5}});
  EXPECT_EQ(RenderMarkdown(table), "| N |\n| :-- |\n| a |\n");
  EXPECT_THAT(RenderText(table, {}), testing::HasSubstr("parts"));
}

TEST(Table, ColoursOnlyWhenAsked) {
  Table table = SmallTable();
  table.rows[1].paint = Paint::kRed;
  EXPECT_THAT(RenderText(table, {}), testing::Not(testing::HasSubstr("\x1b")));
  TextStyle style;
  style.color = true;
  EXPECT_THAT(RenderText(table, style), testing::HasSubstr("\x1b[31m beta"));
}

TEST(FoldRows, NamesTheRestInAColumnThatIsAlwaysShown) {
  Table table{"t",
              {TableColumn{"api", "API"}.GivesWay(), TableColumn{"name", "Name"},
               TableColumn{"n", "n", Unit::kCount}.Adds()},
              {}};
  EXPECT_EQ(ColumnOfOthers(table), 1u);
  for (int64_t i = 1; i <= 4; ++i) table.Add({"api", "kernel", i});
  FoldRows(table, 2);
  EXPECT_EQ(table.rows.back().cells, (std::vector<Cell>{{}, "[2 others]", int64_t{7}}));
  table.columns[1].gives_way = 1;
  EXPECT_EQ(ColumnOfOthers(table), 0u);
  table.columns = {TableColumn{"n", "n", Unit::kCount}};
  EXPECT_EQ(ColumnOfOthers(table), 1u);
}

}  // namespace
}  // namespace tacho
