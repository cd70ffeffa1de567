#include "base/parse_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tacho {
namespace {

std::string Nested(int depth, const std::string& open, const std::string& close) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  text += '1';
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ParseJson, ReadsWhatIsNotTooDeep) {
  EXPECT_EQ(ParseJson(R"({"b":[1],"a":"["})").dump(), R"({"a":"[","b":[1]})");
  EXPECT_EQ(ParseOrderedJson(R"({"b":[1],"a":"\"["})").dump(), R"({"b":[1],"a":"\"["})");
  EXPECT_TRUE(ParseJson("{").is_discarded());
  EXPECT_TRUE(ParseJson(Nested(kDeepestJson, "[", "]")).is_array());
  EXPECT_TRUE(ParseJson(Nested(kDeepestJson, R"({"a":)", "}")).is_object());
}

TEST(ParseJson, DiscardsWhatIsTooDeep) {
  for (const int depth : {kDeepestJson + 1, 1'000'000}) {
    EXPECT_TRUE(ParseJson(Nested(depth, "[", "]")).is_discarded()) << depth;
    EXPECT_TRUE(ParseOrderedJson(Nested(depth, R"({"a":)", "}")).is_discarded()) << depth;
  }
  EXPECT_TRUE(ParseJson(std::string(1'000'000, '[')).is_discarded());
}

TEST(ParseJson, BracketsInStringsAreNoDepth) {
  EXPECT_TRUE(ParseJson('"' + std::string(10'000, '[') + '"').is_string());
  EXPECT_TRUE(ParseJson(R"(["\\",")" + std::string(10'000, '{') + R"(\"["])").is_array());
}

}  // namespace
}  // namespace tacho
