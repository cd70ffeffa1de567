#include "text/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace tacho {
namespace {

TEST(JsonWriter, Layout) {
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", 1);
  json.Rows("rows", std::vector{"a\"b", "c"}, [&](const char* name) {
    json.Field("name", name);
    json.List("list", std::vector{1, 2});
  });
  json.Row("row", "a", 1, "b", "x");
  json.Rows("none", std::vector<int>(), [](int) {});
  json.End();
  EXPECT_EQ(std::move(json).Finish(), R"({
 "schema": 1,
 "rows": [
  {"name": "a\"b", "list": [1, 2]},
  {"name": "c", "list": [1, 2]}
 ],
 "row": {"a": 1, "b": "x"},
 "none": []
}
)");
}

TEST(JsonWriter, WhatCannotBeToldIsAbsent) {
  JsonWriter json;
  json.BeginObject();
  json.Fields("rank", std::optional<int64_t>(), "rate", std::numeric_limits<double>::infinity(),
              "nan", std::numeric_limits<double>::quiet_NaN(), "engine", UnlessEmpty(""), "time_ns",
              std::optional<DurationNs>(DurationNs{5}));
  json.End();
  EXPECT_EQ(std::move(json).Finish(), "{\n \"time_ns\": 5\n}\n");
}

TEST(JsonWriter, AlwaysValid) {
  JsonWriter json;
  json.BeginObject();
  json.Fields("bad\xff", "\x01\xff\xc3(\n", "", true);  // a category without a name
  json.Fields("small", 1e-300, "large", std::numeric_limits<uint64_t>::max());
  json.End();
  const auto parsed = nlohmann::json::parse(std::move(json).Finish());
  EXPECT_EQ(parsed.size(), 4u);
  EXPECT_EQ(parsed[""], true);
  EXPECT_EQ(parsed["small"], 1e-300);
}

}  // namespace
}  // namespace tacho
