#include "net/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Hidden(HttpHeader header, std::string text) {
  return Keys({std::move(header)}, "", false).Hidden(std::move(text));
}

TEST(Keys, HidesAWholeValueAndEachOfItsParts) {
  const HttpHeader cookies = {"Cookie", "a=SECRETONE; b=SECRETTWO; theme=dark"};
  EXPECT_EQ(Hidden(cookies, "sent " + cookies.value + "."), "sent ***.");
  EXPECT_EQ(Hidden(cookies, "b is SECRETTWO, a is SECRETONE; dark"), "b is ***, a is ***; dark");
  EXPECT_EQ(Hidden({"X-Api-Key", "FIRSTPART SECONDPART"}, "SECONDPART of FIRSTPART"), "*** of ***");
  EXPECT_EQ(Hidden({"Authorization", "Digest nonce=\"FIRST1\",response=\"SECOND\""},
                   "{'nonce': 'FIRST1', 'response': 'SECOND'}"),
            "{'nonce': '***', 'response': '***'}");
  EXPECT_EQ(Hidden({"Authorization", "Basic dXNlcjpwYXNz=="}, "got dXNlcjpwYXNz"), "got ***");
}

TEST(Keys, OrdinaryWordsStay) {
  const Keys keys({}, "sk-0123456789", false);
  EXPECT_EQ(keys.Hidden("Bearer tokens only: Bearer sk-0123456789"),
            "Bearer tokens only: Bearer ***");
  EXPECT_EQ(Hidden({"X-Api-Key", "a to b"}, "from a to c, as b to a"), "from a to c, as b to a");
  EXPECT_EQ(Hidden({"X-Request-Id", "number-seven"}, "request number-seven"),
            "request number-seven");
  EXPECT_EQ(Hidden({"X-Empty", ""}, "all of \\ it"), "all of \\ it");
  EXPECT_EQ(Hidden({"X-Backslashes", "\\\\\\\\"}, "a\\b"), "a\\b");
}

TEST(Keys, HidesWhatIsEscaped) {
  const HttpHeader odd = {"X-Api-Key", "se\"cr\\et/k%25y w+rd"};
  for (const std::string text :
       {R"(se"cr\et/k%25y w+rd)", R"(se\"cr\\et/k%25y w+rd)", R"(se\"cr\\et\/k%25y w+rd)",
        R"(se\\\"cr\\\\et/k%25y w+rd)", R"(se\u0022cr\\et\u002fk\u002525y w\u002Brd)",
        "se%22cr%5Cet%2Fk%2525y%20w%2Brd", "se%22cr%5cet/k%2525y+w%2brd"}) {
    EXPECT_EQ(Hidden(odd, "{\"got\": \"" + text + "\"}"), "{\"got\": \"***\"}") << text;
  }
}

// The property: wherever the text is cut, at most a few first letters of the key stay.
TEST(Keys, ACutLeavesNoPartOfAKey) {
  const std::string key = "sk-\"abcdefghijklmnopqrstuvwxyz0123456789";
  const Keys keys({}, key, false);
  const std::string text = "you sent sk-\\\"abcdefghijklmnopqrstuvwxyz0123456789, which is wrong";
  for (size_t most = 0; most <= text.size(); ++most) {
    const std::string shown = keys.Hidden(text.substr(0, most));
    EXPECT_THAT(shown, Not(HasSubstr("abc"))) << shown;
    EXPECT_EQ(shown.substr(0, 9), text.substr(0, std::min<size_t>(most, 9)));
  }
  EXPECT_EQ(keys.Hidden("key sk-\"abcdefghijkl... is wrong"), "key ***... is wrong");
}

}  // namespace
}  // namespace tacho
