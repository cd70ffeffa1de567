#include "io/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(const JsonReader& reader) {
  const auto finished = reader.Finish();
  return finished ? "" : finished.error().message;
}

struct Item {
  std::string name;
  uint64_t count = 0;
  std::vector<int64_t> pids;
};

void Describe(JsonReader& reader, Item& item) {
  reader.Fields("name", item.name, "count", item.count);
  reader.List("pids", item.pids);
}

TEST(JsonReader, ReadsByKeyWhateverTheOrder) {
  auto reader = JsonReader::Parse(
      R"({"unknown": [1], "b": true, "items": [{"count": 3, "name": "x\n", "pids": [1, -2]},)"
      R"( {"name": "", "count": 0, "pids": []}], "by": {"a": 1, "b": 2},)"
      R"( "inner": {"ns": 5, "share": 0.25}})");
  ASSERT_TRUE(reader);
  std::vector<Item> items;
  DurationNs ns;
  double share = 1;
  bool b = false;
  std::optional<int64_t> absent, there;
  reader->Rows("items", items, [&](Item& item) { Describe(*reader, item); });
  reader->BeginObject("inner");
  reader->Fields("ns", ns, "share", share, "none", absent, "ns", there);
  reader->End();
  reader->BeginObject("by");
  std::vector<std::string> names;
  uint64_t sum = 0;
  reader->Counts([&](std::string name, uint64_t count) {
    names.push_back(std::move(name));
    sum += count;
  });
  reader->End();
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_EQ(sum, 3u);
  reader->BeginObject("no_such");
  reader->Fields("ns", ns);
  reader->End();
  reader->Field("b", b);
  EXPECT_EQ(ErrorOf(*reader), "");
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].name, "x\n");
  EXPECT_EQ(items[0].count, 3u);
  EXPECT_THAT(items[0].pids, ElementsAre(1, -2));
  EXPECT_EQ(items[1].name, "");
  EXPECT_EQ(ns.ns, 5);
  EXPECT_EQ(share, 0.25);
  EXPECT_TRUE(b);
  EXPECT_FALSE(absent);
  EXPECT_EQ(there, 5);
}

TEST(JsonReader, SaysWhereTheFirstWrongFieldIs) {
  const auto error_of = [](const std::string& json) {
    auto reader = JsonReader::Parse(json);
    std::vector<Item> items;
    int small = 0;
    TimeNs at;
    reader->BeginObject("a");
    reader->Rows("items", items, [&](Item& item) { Describe(*reader, item); });
    reader->End();
    reader->Fields("small", small, "at", at);
    return ErrorOf(*reader);
  };
  const auto item = [](const std::string& fields) {
    return R"({"a": {"items": [{"name": "", "count": 1, "pids": []}, {)" + fields +
           R"(}]}, "small": 1, "at": 1})";
  };
  EXPECT_EQ(error_of(item(R"("name": "", "count": 1, "pids": [])")), "");
  EXPECT_EQ(error_of(item(R"("name": "", "count": -1, "pids": [])")).substr(0, 18),
            "a.items[1].count: ");
  EXPECT_EQ(error_of(item(R"("name": "", "count": 1, "pids": [1, "2"])")).substr(0, 20),
            "a.items[1].pids[1]: ");
  EXPECT_EQ(error_of(item(R"("name": "", "pids": [])")),
            "a.items[1].count: expected a value, as this version of tacho writes one");
  EXPECT_THAT(error_of(item(R"("name": "", "count": 1)")), HasSubstr("a.items[1].pids: expected"));
  EXPECT_EQ(error_of(R"({"a": {"items": [7]}})"), "a.items[0]: expected an object");
  EXPECT_EQ(error_of(R"({"a": {"items": 7}})"), "a.items: expected a list");
  EXPECT_EQ(error_of(R"({"a": []})"), "a: expected an object");
  EXPECT_THAT(error_of(R"({"small": 3000000000, "at": 1})"),
              HasSubstr("small: expected a whole number"));
  EXPECT_THAT(error_of(R"({"small": 1.5, "at": 1})"), HasSubstr("small: "));
  EXPECT_THAT(error_of(R"({"small": 1, "at": 4611686018427387904})"), HasSubstr("at: "));
  EXPECT_EQ(error_of(R"({"small": -3, "at": -5})"), "");
}

TEST(JsonReader, RefusesWhatIsNoObject) {
  for (const char* text : {"", "{", "[]", "7", "{\"a\": 1} x", "{\"a\": 1, \"a\"}", "\xff"}) {
    EXPECT_FALSE(JsonReader::Parse(text)) << text;
  }
  EXPECT_FALSE(JsonReader::Parse(std::string(5000, '[') + std::string(5000, ']')));
}

TEST(JsonReader, SaysWhereItIsCutOff) {
  const std::string whole = R"({"a": ["b\"}", {"c": 1}], "d": "\\"})";
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_THAT(JsonReader::Parse(whole.substr(0, size)).error().message,
                HasSubstr("cut off at byte " + std::to_string(size)));
  }
  EXPECT_THAT(JsonReader::Parse(R"({"a": 1,})").error().message, HasSubstr("not valid JSON"));
}

enum class Color : uint8_t { kRed, kBlue };
std::string_view ColorName(Color color) { return color == Color::kRed ? "red" : "blue"; }

TEST(JsonReader, NamesAndLengths) {
  auto reader = JsonReader::Parse(R"({"color": "blue", "start": 10, "dur": 5, "bad": "green"})");
  Color color = Color::kRed;
  Interval when;
  int skipped = 4;
  reader->Fields("color", ByName(color, ColorName, 2), "start", when.start, "dur", LengthOf(when),
                 "start", Derived(skipped), "none", UnlessIs(skipped, 0));
  EXPECT_EQ(color, Color::kBlue);
  EXPECT_EQ(when, (Interval{{10}, {15}}));
  EXPECT_EQ(skipped, 4);
  reader->Field("bad", ByName(color, ColorName, 2));
  EXPECT_THAT(ErrorOf(*reader), HasSubstr("bad: expected a name that this version of tacho knows"));
}

}  // namespace
}  // namespace tacho
