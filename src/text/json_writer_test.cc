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
  json.BeginArray("rows");
  json.BeginRow();
  json.Field("name", "a\"b");
  json.BeginList("list");
  json.Item(int64_t{1});
  json.Item("x");
  json.End();
  json.End();
  json.End();
  json.BeginArray("none");
  json.End();
  json.End();
  EXPECT_EQ(std::move(json).Finish(),
            "{\n \"schema\": 1,\n \"rows\": [\n  {\"name\": \"a\\\"b\", \"list\": [1, \"x\"]}\n "
            "],\n \"none\": []\n}\n");
}

TEST(JsonWriter, WhatCannotBeToldIsAbsent) {
  JsonWriter json;
  json.BeginObject();
  json.Field("rank", std::optional<int64_t>());
  json.Field("rate", std::numeric_limits<double>::infinity());
  json.Field("nan", std::numeric_limits<double>::quiet_NaN());
  json.FieldUnlessEmpty("engine", "");
  json.Field("time_ns", std::optional<DurationNs>(DurationNs{5}));
  json.End();
  EXPECT_EQ(std::move(json).Finish(), "{\n \"time_ns\": 5\n}\n");
}

TEST(JsonWriter, AlwaysValid) {
  JsonWriter json;
  json.BeginObject();
  json.Field("bad\xff", "\x01\xff\xc3(\n");
  json.Field("", true);  // a category without a name
  json.Field("small", 1e-300);
  json.Field("large", std::numeric_limits<uint64_t>::max());
  json.End();
  const auto parsed = nlohmann::json::parse(std::move(json).Finish());
  EXPECT_EQ(parsed.size(), 4u);
  EXPECT_EQ(parsed[""], true);
  EXPECT_EQ(parsed["small"], 1e-300);
}

}  // namespace
}  // namespace tacho
