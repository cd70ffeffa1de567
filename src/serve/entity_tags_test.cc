#include "serve/entity_tags.h"

#include <gtest/gtest.h>

#include <string>

namespace tacho {
namespace {

TEST(NamesTag, ComparesWholeTags) {
  for (const char* list : {R"("ab")", R"( "x", "ab" )", R"(W/"ab")", R"("a,b" ,,	"ab","y")",
                           "*", " * ", R"("", "ab")"})
    EXPECT_TRUE(NamesTag(list, R"("ab")")) << list;
  for (const char* list :
       {"", " ", ",", "ab", R"("a")", R"("abc")", R"("xab")", R"("x"ab")", R"("x""ab")", R"("AB")",
        R"(x"ab")", R"("x";"ab")", R"("ab)", R"(w/"ab")", "W/", "**", R"(*, "ab")", R"("*")"})
    EXPECT_FALSE(NamesTag(list, R"("ab")")) << list;
}

}  // namespace
}  // namespace tacho
