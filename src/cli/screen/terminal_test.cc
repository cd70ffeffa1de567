#include "cli/screen/terminal.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

Surroundings Terminal() {
  Surroundings here;
  here.is_tty = true;
  here.columns = 120;
  here.term = "xterm-256color";
  here.locale = "en_US.UTF-8";
  return here;
}

TEST(StyleFor, ATerminal) {
  const TextStyle style = StyleFor(Terminal(), ColorChoice::kAuto);
  EXPECT_TRUE(style.color);
  EXPECT_TRUE(style.unicode);
  EXPECT_EQ(style.width, 120u);
}

TEST(StyleFor, AFileGetsAHundredColumnsAndNoColour) {
  Surroundings here = Terminal();
  here.is_tty = false;
  here.columns = 0;
  const TextStyle style = StyleFor(here, ColorChoice::kAuto);
  EXPECT_FALSE(style.color);
  EXPECT_EQ(style.width, 100u);
}

TEST(StyleFor, ColourRules) {
  Surroundings here = Terminal();
  here.no_color = "1";
  EXPECT_FALSE(StyleFor(here, ColorChoice::kAuto).color);
  EXPECT_TRUE(StyleFor(here, ColorChoice::kAlways).color);
  here = Terminal();
  here.term = "dumb";
  EXPECT_FALSE(StyleFor(here, ColorChoice::kAuto).color);
  here = Terminal();
  here.is_tty = false;
  here.clicolor_force = "1";
  EXPECT_TRUE(StyleFor(here, ColorChoice::kAuto).color);
  here.clicolor_force = "0";
  EXPECT_FALSE(StyleFor(here, ColorChoice::kAuto).color);
  EXPECT_FALSE(StyleFor(Terminal(), ColorChoice::kNever).color);
}

TEST(StyleFor, LocalesWithoutUtf8GetAscii) {
  for (const char* locale : {"", "C", "POSIX", "de_DE.ISO-8859-1"}) {
    Surroundings here = Terminal();
    here.locale = locale;
    EXPECT_FALSE(StyleFor(here, ColorChoice::kAuto).unicode) << locale;
  }
  Surroundings here = Terminal();
  here.locale = "C.utf8";
  EXPECT_TRUE(StyleFor(here, ColorChoice::kAuto).unicode);
}

TEST(LiveColumns, AreThoseOfTheTerminalButOne) {
  Surroundings here = Terminal();
  here.columns = 80;
  EXPECT_EQ(LiveColumns(here), 79u);
  here.columns = 1;
  EXPECT_EQ(LiveColumns(here), 0u);
  here.columns = 0;
  EXPECT_EQ(LiveColumns(here), 96u);
  here.term = "dumb";
  EXPECT_FALSE(LiveColumns(here));
  here = Terminal();
  here.is_tty = false;
  EXPECT_FALSE(LiveColumns(here));
}

TEST(StyleFor, OddWidthsAreBounded) {
  Surroundings here = Terminal();
  here.columns = 20;
  EXPECT_EQ(StyleFor(here, ColorChoice::kAuto).width, 80u);
  here.columns = 1000;
  EXPECT_EQ(StyleFor(here, ColorChoice::kAuto).width, 250u);
}

TEST(StyleFor, COLUMNSHasTheLastWord) {
  Surroundings here = Terminal();
  here.columns_variable = "160";
  EXPECT_EQ(StyleFor(here, ColorChoice::kAuto).width, 160u);
  here.is_tty = false;
  EXPECT_EQ(StyleFor(here, ColorChoice::kAuto).width, 160u);
  here.columns_variable = "5000";
  EXPECT_EQ(StyleFor(here, ColorChoice::kAuto).width, 250u);
  for (const char* none : {"", "0", "wide", "12x", "-80"}) {
    here.columns_variable = none;
    EXPECT_EQ(StyleFor(here, ColorChoice::kAuto).width, 100u) << none;
  }
}

TEST(ParseColor, KnowsThree) {
  EXPECT_TRUE(ParseColor("auto").has_value());
  EXPECT_FALSE(ParseColor("yes").has_value());
}

}  // namespace
}  // namespace tacho
