#include "report/screen_parts.h"

#include <gtest/gtest.h>

#include <sstream>

#include "text/visible_text.h"

namespace tacho {
namespace {

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

std::string Words(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "word" : " word") + std::to_string(i);
  return text;
}

TEST(LabelledWithin, KeepsItsLinesAndItsWidth) {
  for (const size_t width : {80u, 100u, 137u}) {
    for (const bool unicode : {true, false}) {
      const TextStyle style{.width = width, .unicode = unicode};
      for (size_t words = 1; words < 400; words += 7) {
        const std::string text = LabelledWithin(
            {{"one", Words(words)}, {"two", Words(words / 3)}, {"", "end"}}, 5, style);
        const std::vector<std::string> lines = LinesOf(text);
        EXPECT_LE(lines.size(), 5u);
        EXPECT_EQ(lines.back(), "          end");
        for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), width) << line;
      }
    }
  }
}

TEST(VerdictAgain, StandsUnderLongScreensAlone) {
  EXPECT_EQ(VerdictAgain(std::string(40, '\n'), "busy", "", {}), "");
  EXPECT_EQ(VerdictAgain(std::string(41, '\n'), "busy", "", {}), "\n VERDICT  busy\n");
  EXPECT_EQ(VerdictAgain(std::string(41, '\n'), Words(20), "brief", {}),
            "\n" + Labelled("VERDICT", Words(20), Paint::kBold, {}));
  EXPECT_EQ(VerdictAgain(std::string(99, '\n'), Words(300), "brief", {}), "\n VERDICT  brief\n");
  EXPECT_EQ(VerdictAgain(std::string(99, '\n'), Words(300), Words(50), {}),
            "\n" + Labelled("VERDICT", Words(50), Paint::kBold, {}))
      << "nothing of it is left out";
}

TEST(LabelledWithin, SaysThatSomethingIsLeftOut) {
  const TextStyle style{.width = 40};
  EXPECT_EQ(LabelledWithin({{"a", "one two three four five six seven eight nine ten"}}, 1, style),
            " a        one two three four five six …\n");
  EXPECT_EQ(LabelledWithin({{"a", "one two"}}, 1, style), " a        one two\n");
  const std::string command = "analyze " + std::string(60, 'x');
  EXPECT_EQ(LabelledWithin({{"a", command, Paint::kPlain, true}}, 1, style),
            " a        " + command + "\n");
}

}  // namespace
}  // namespace tacho
