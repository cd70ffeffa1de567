#include "base/json_text.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(UnescapeJson, ResolvesEveryEscape) {
  EXPECT_EQ(UnescapeJson(R"(a\"b\\c\/d\n\t\r\b\f)"), "a\"b\\c/d\n\t\r\b\f");
  EXPECT_EQ(UnescapeJson(R"(\u0041\u00e4\u20ac)"), "A\xc3\xa4\xe2\x82\xac");
  EXPECT_EQ(UnescapeJson(R"(\ud83d\ude00)"), "\xf0\x9f\x98\x80");
}

TEST(UnescapeJson, KeepsWhatIsNoEscape) {
  EXPECT_EQ(UnescapeJson(R"(C:\dir)"), R"(C:\dir)");
  EXPECT_EQ(UnescapeJson(R"(\u12)"), R"(\u12)");
  EXPECT_EQ(UnescapeJson("end\\"), "end\\");
  EXPECT_EQ(UnescapeJson(R"(\ud83d!)"), "\xef\xbf\xbd!");
}

TEST(QuoteJson, IsAlwaysValidJsonAndComesBack) {
  EXPECT_EQ(QuoteJson("a\"\\\n\x01"), R"("a\"\\\n\u0001")");
  EXPECT_EQ(QuoteJson("\xff\xc3\x28"), "\"\xef\xbf\xbd\xef\xbf\xbd(\"");
  // Terminals take these for commands when the document is printed.
  EXPECT_EQ(QuoteJson("\x7f\xc2\x9b\xc2\xa0"), "\"\\u007f\\u009b\xc2\xa0\"");
  const std::string text = "plain \xe2\x82\xac \xf0\x9f\x98\x80 \t\"quoted\"";
  EXPECT_EQ(JsonStringOrText(QuoteJson(text)), text);
}

TEST(CompactJson, DropsWhiteSpaceOutsideOfStrings) {
  EXPECT_EQ(CompactJson("{ \"a b\" :\t[1,\n 2]}"), "{\"a b\":[1,2]}");
  EXPECT_EQ(CompactJson("[\"a\\\" b\", \" \\\\\", 3 ]"), "[\"a\\\" b\",\" \\\\\",3]");
  EXPECT_EQ(CompactJson("\" a\\"), "\" a\\");
}

TEST(JsonStringAt, EndsAtItsQuote) {
  const std::string_view json = R"({"a\"b" : "c\\"})";
  const JsonString key = JsonStringAt(json, 1), value = JsonStringAt(json, 10);
  EXPECT_EQ(json.substr(key.begin, key.end - key.begin), R"(a\"b)");
  EXPECT_TRUE(key.is_key);
  EXPECT_EQ(json.substr(value.begin, value.end - value.begin), R"(c\\)");
  EXPECT_FALSE(value.is_key);
  for (const char* cut : {"\"", "\"a", "\"a\\"}) {
    EXPECT_EQ(JsonStringAt(cut, 0).end, std::string_view(cut).size());
    EXPECT_FALSE(JsonStringAt(cut, 0).is_key);
  }
}

}  // namespace
}  // namespace tacho
