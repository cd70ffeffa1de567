#include "text/markdown_text.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(MarkdownText, NamesStayNames) {
  EXPECT_EQ(MarkdownText("gemm<128>, a.b:c"), "gemm&lt;128>, a.b:c");
  EXPECT_EQ(MarkdownText("a_b*c`d|e[f\\g~h"), "a\\_b\\*c\\`d\\|e\\[f\\\\g\\~h");
  EXPECT_EQ(MarkdownText("&lt;b&gt;"), "&amp;lt;b&amp;gt;");
  EXPECT_EQ(MarkdownText("$a$"), "&#36;a&#36;");
  EXPECT_EQ(MarkdownText("x\x1b[31m"), "x\\\\x1b\\[31m");
}

TEST(MarkdownText, PingsNobodyAndLinksNowhere) {
  EXPECT_EQ(MarkdownText("@octocat"), "@&#8203;octocat");
  EXPECT_EQ(MarkdownText("me@x.org #1"), "me@&#8203;x.org #&#8203;1");
  EXPECT_EQ(MarkdownText("https://a.b"), "https:&#8203;//a.b");
  EXPECT_EQ(MarkdownText("www.a.b"), "www&#8203;.a.b");
  EXPECT_EQ(MarkdownText("at::mm"), "at::mm");
}

}  // namespace
}  // namespace tacho
