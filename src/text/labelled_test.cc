#include "text/labelled.h"

#include <gtest/gtest.h>

#include <sstream>

#include "text/visible_text.h"

namespace tacho {
namespace {

std::string Words(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "word" : " word") + std::to_string(i);
  return text;
}

TEST(Labelled, PartsStayWholeWhereTheyFit) {
  const TextStyle style{.width = 30};
  EXPECT_EQ(RenderText(Labelled{"trust", {"no event lost", "", "all linked", Words(4)}}, style),
            " trust    no event lost\n"
            "          all linked\n"
            "          word0 word1 word2\n"
            "          word3\n");
}

TEST(Labelled, NamesAreMadeVisibleAndColumnsAreTheLayouts) {
  const TextLayout layout{.margin = 2, .label_width = 4, .label_paint = Paint::kPlain};
  EXPECT_EQ(RenderText(Labelled{"\x1b", {"a\nb"}}, {.color = true}, layout), "  \\x1b a\\nb\n");
  EXPECT_EQ(RenderText(Labelled{"a", {"b"}, Paint::kRed}, {.color = true}),
            " \x1b[1ma       \x1b[0m \x1b[31mb\x1b[0m\n");
}

TEST(RenderWithin, KeepsItsLinesAndItsWidth) {
  for (const size_t width : {80u, 100u, 137u}) {
    for (const bool unicode : {true, false}) {
      const TextStyle style{.width = width, .unicode = unicode};
      for (size_t words = 1; words < 400; words += 7) {
        std::istringstream text(RenderWithin(
            {{"one", {Words(words)}}, {"two", {Words(words / 3)}}, {"", {"end"}}}, 5, style));
        size_t count = 0;
        std::string last;
        for (std::string line; std::getline(text, line); last = line, ++count)
          EXPECT_LE(DisplayWidth(line), width) << line;
        EXPECT_LE(count, 5u);
        EXPECT_EQ(last, "          end");
      }
    }
  }
}

TEST(RenderWithin, SaysThatSomethingIsLeftOut) {
  const TextStyle style{.width = 40};
  EXPECT_EQ(RenderWithin({{"a", {"one two three four five six seven eight nine ten"}}}, 1, style),
            " a        one two three four five six …\n");
  EXPECT_EQ(RenderWithin({{"a", {"one two"}}}, 1, style), " a        one two\n");
  const std::string command = "analyze " + std::string(60, 'x');
  EXPECT_EQ(RenderWithin({{"a", {command}, Paint::kPlain, true}}, 1, style),
            " a        " + command + "\n");
}

TEST(WholeOrBrief, WholeOnTwoLines) {
  EXPECT_EQ(WholeOrBrief(Words(20), "brief", {}), Words(20));
  EXPECT_EQ(WholeOrBrief(Words(300), "brief", {}), "brief");
}

}  // namespace
}  // namespace tacho
