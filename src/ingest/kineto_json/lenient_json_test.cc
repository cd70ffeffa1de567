#include "ingest/kineto_json/lenient_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tacho::kineto {
namespace {

struct Skipped {
  Scan scan;
  size_t size;
  bool operator==(const Skipped&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Skipped& s) {
  return out << static_cast<int>(s.scan) << " at " << s.size;
}
Skipped Skip(std::string_view text, Place place, bool last = false) {
  Cursor c{text.data(), text.data() + text.size(), last};
  const Scan scan = SkipValue(c, place);
  return {scan, static_cast<size_t>(c.p - text.data())};
}

TEST(SkipValue, EndsWhereTheValueEnds) {
  EXPECT_EQ(Skip(R"("a" , "b": 1)", Place::kMember), (Skipped{Scan::kOk, 3}));
  EXPECT_EQ(Skip(R"(12.5e3,)", Place::kMember), (Skipped{Scan::kOk, 6}));
  EXPECT_EQ(Skip(R"(nan})", Place::kMember), (Skipped{Scan::kOk, 3}));
  EXPECT_EQ(Skip(R"([[1, "]"], {"a": "}"}],)", Place::kMember), (Skipped{Scan::kOk, 22}));
  EXPECT_EQ(Skip(R"({"a": {"b": [ {} ]}} x)", Place::kMember), (Skipped{Scan::kOk, 20}));
}

TEST(SkipValue, EveryPrefixIsUnfinished) {
  const std::string value = R"({"a": "x\"y", "b": [1, {"c": null}], "d": "e"})";
  for (size_t n = 1; n < value.size(); ++n) {
    EXPECT_EQ(Skip(value.substr(0, n), Place::kMember).scan, Scan::kMore) << value.substr(0, n);
  }
  EXPECT_EQ(Skip(value + ",", Place::kMember), (Skipped{Scan::kOk, value.size()}));
}

TEST(SkipValue, UnescapedQuotesBelongToTheStringWhenNothingElseFits) {
  const std::string text = R"("{"device": "cpu"}(12): run", "pid": 1})";
  Cursor c{text.data(), text.data() + text.size(), true};
  ASSERT_EQ(SkipValue(c, Place::kMember), Scan::kOk);
  EXPECT_EQ(std::string_view(text.data(), static_cast<size_t>(c.p - text.data())),
            R"("{"device": "cpu"}(12): run")");
  EXPECT_TRUE(c.repaired);
}

TEST(SkipValue, NestingIsBounded) {
  const std::string deep(100, '['), too_deep(kDeepest + 1, '[');
  EXPECT_EQ(Skip(deep + std::string(100, ']') + ",", Place::kMember).scan, Scan::kOk);
  EXPECT_EQ(Skip(too_deep, Place::kMember).scan, Scan::kBad);
  EXPECT_EQ(Skip("[}", Place::kMember).scan, Scan::kBad);
}

TEST(ForEachMember, GivesKeysAndTexts) {
  std::vector<std::string> seen;
  ForEachMember(R"( {"a": 1, , "b": [2, 3], "c": "x"} )",
                [&](std::string_view key, std::string_view value) {
                  seen.push_back(std::string(key) + "=" + std::string(value));
                });
  EXPECT_EQ(seen, (std::vector<std::string>{"a=1", "b=[2, 3]", "c=\"x\""}));
  seen.clear();
  ForEachElement(R"([1, {"a": 2}, "x",])",
                 [&](std::string_view value) { seen.emplace_back(value); });
  EXPECT_EQ(seen, (std::vector<std::string>{"1", "{\"a\": 2}", "\"x\""}));
}

}  // namespace
}  // namespace tacho::kineto
