#include "base/rule_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace tacho {
namespace {

Result<void> TakeShort(std::string_view line) {
  if (line.size() > 3) return Fail(ErrorKind::kUsage, "expected three letters");
  return {};
}

TEST(RuleLines, SkipsCommentsAndBlankLines) {
  std::string taken;
  const auto take = [&](std::string_view line) -> Result<void> {
    taken += std::string(line) + ';';
    return {};
  };
  EXPECT_TRUE(ReadRuleLines("# comment\n\n  a b  \r\n\t# indented\nc", "x.rules", take));
  EXPECT_EQ(taken, "a b;c;");
  EXPECT_TRUE(ReadRuleLines("", "x.rules", take));
}

TEST(RuleLines, TheFirstErrorHasItsPlace) {
  const auto read = ReadRuleLines("abc\n#\n\nabcd\nabcde", "x.rules", TakeShort);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(read.error().message, "x.rules line 4: expected three letters");
}

TEST(RuleLines, AnErrorInABuiltInTableIsABug) {
  EXPECT_NO_THROW(ReadBuiltInRules("abc", "x.rules", TakeShort));
  EXPECT_THROW(ReadBuiltInRules("abcd", "x.rules", TakeShort), std::logic_error);
}

}  // namespace
}  // namespace tacho
