#include "serve/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Parameters, TextIsDecoded) {
  const Parameters parameters("q=a%20b+c&name=%3Cimg%3E&q=later&flag&=x");
  EXPECT_EQ(parameters.Text("q"), "a b c");
  EXPECT_EQ(parameters.Text("name"), "<img>");
  EXPECT_EQ(parameters.Text("flag"), "");
  EXPECT_EQ(parameters.Text("rank"), std::nullopt);
  EXPECT_EQ(Parameters("").Text(""), std::nullopt);
}

TEST(Parameters, NumbersAreWholeAndBounded) {
  const Parameters parameters("a=7&b=-3&c=1e3&d=99999999999999999999&e=&f= 1");
  EXPECT_EQ(parameters.Number("a", 0, 7), 7);
  EXPECT_EQ(parameters.Number("b", -3, 7), -3);
  EXPECT_EQ(parameters.Number("absent", 0, 7, 5), 5);
  for (const char* bad : {"b", "c", "d", "e", "f", "absent"}) {
    const auto number = parameters.Number(bad, 0, 7);
    ASSERT_FALSE(number) << bad;
    EXPECT_EQ(number.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(number.error().message, std::string(bad) + "= is a whole number from 0 to 7");
  }
  EXPECT_EQ(parameters.Index("a", 8), 7u);
  EXPECT_FALSE(parameters.Index("a", 7));
  EXPECT_FALSE(parameters.Index("a", 0));
}

TEST(Parameters, AWindowDoesNotEndBeforeItBegins) {
  EXPECT_EQ(Parameters("from=-5&to=5").Window(), (Interval{{-5}, {5}}));
  EXPECT_EQ(Parameters("").Window(Interval{{1}, {2}}), (Interval{{1}, {2}}));
  EXPECT_FALSE(Parameters("").Window());
  EXPECT_FALSE(Parameters("from=5").Window(Interval{{1}, {2}}));
  EXPECT_FALSE(Parameters("from=5&to=4").Window());
  EXPECT_FALSE(Parameters("from=0&to=9007199254740993").Window());
}

TEST(Parameters, IndexesAreListedOrRanges) {
  const auto of = [](const char* query) { return Parameters(query).Indexes("rows", 8, 5); };
  EXPECT_THAT(**of("rows=0,3-5"), ElementsAre(0, 3, 4, 5));
  EXPECT_THAT(**of("rows="), IsEmpty());
  EXPECT_EQ(*of("rank=1"), std::nullopt);
  for (const char* bad : {"rows=8", "rows=-1", "rows=5-3", "rows=1-", "rows=a", "rows=1,,2"})
    EXPECT_FALSE(of(bad)) << bad;
  EXPECT_THAT(of("rows=0-7").error().message, HasSubstr("at most 5"));
  EXPECT_FALSE(of("rows=0-4294967295"));
}

}  // namespace
}  // namespace tacho
