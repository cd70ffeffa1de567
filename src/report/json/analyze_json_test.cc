#include "report/json/analyze_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "report/results_for_test.h"

namespace tacho {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;

Json Of(const RunAnalysis& run) { return Json::parse(AnalyzeJson(run, "1.2.3")); }

Json OfOne(TraceAnalysis trace) {
  RunAnalysis run;
  run.traces.push_back(std::move(trace));
  return Of(run)["traces"][0];
}

TEST(AnalyzeJson, HasTheFieldsOfTheContract) {
  const Json trace = OfOne(GpuTraceForTest());
  EXPECT_EQ(trace["path"], "run/rank0.pt.trace.json.gz");
  EXPECT_EQ(trace["format"], "kineto");
  EXPECT_EQ(trace["bytes"], 1234);
  EXPECT_EQ(trace["json_bytes"], 56789);
  EXPECT_EQ(trace["rank"], 0);
  EXPECT_EQ(trace["world_size"], 2);
  EXPECT_EQ(trace["engine"], "vllm");
  EXPECT_EQ(trace["engine_version"], "0.11.0");
  EXPECT_EQ(trace["base_time_ns"], 1'700'000'000'000'000'000);
  EXPECT_EQ(trace["span"], Json::parse(R"({"first_ns": 10000, "last_ns": 1210000})"));
  EXPECT_EQ(
      trace["events"],
      Json::parse(
          R"({"total": 9, "by_phase": {"M": 2, "X": 7}, "by_category": {"cpu_op": 2, "kernel": 2}})"));
  EXPECT_EQ(trace["notes"][0]["id"], "orphan-gpu-events");
  EXPECT_EQ(trace["notes"][0]["severity"], "info");
  EXPECT_EQ(trace["notes"][0]["where"], "stream 7");
  EXPECT_EQ(trace["copies"], Json::parse(R"([{"kind": "HtoD", "count": 1, "total_ns": 50000,
      "bytes": 1000000, "gigabytes_per_second": 20.0, "pageable": 1}])"));
  EXPECT_EQ(trace["memsets"], Json::array());
  EXPECT_EQ(trace["launches"]["without_launch"], 1);
  EXPECT_EQ(trace["launches"]["apis"][0]["total_ns"], 12000);
  EXPECT_EQ(trace["classifier"]["coverage"], 1.0);
}

TEST(AnalyzeJson, TimesAddUp) {
  const Json trace = OfOne(GpuTraceForTest());
  const Json& device = trace["devices"][0];
  EXPECT_EQ(device["busy_ns"].get<int64_t>() + device["idle_ns"].get<int64_t>(),
            device["window_ns"]);
  int64_t idle = 0;
  for (const Json& cause : trace["idle"]["causes"]) idle += cause["ns"].get<int64_t>();
  EXPECT_EQ(trace["idle"]["busy_ns"].get<int64_t>() + idle, trace["idle"]["window_ns"]);
  int64_t kinds = 0;
  for (const Json& row : device["overlaps"]) kinds += row["ns"].get<int64_t>();
  EXPECT_EQ(kinds, device["window_ns"]);
}

TEST(AnalyzeJson, Steps) {
  const Json steps = OfOne(GpuTraceForTest())["steps"];
  EXPECT_EQ(steps["method"], "annotated");
  EXPECT_EQ(steps["count"], 2);
  EXPECT_EQ(steps["by_phase"],
            Json::parse(R"({"prefill": 1, "decode": 1, "mixed": 0, "empty": 0})"));
  EXPECT_EQ(steps["context_tokens"], 32);
  EXPECT_EQ(steps["generation_tokens"], 1);
  EXPECT_EQ(steps["list"][0]["period_ns"], 600000);
  EXPECT_FALSE(steps["list"][1].contains("period_ns"));
}

TEST(AnalyzeJson, UnknownIsAbsentNotZeroNotNull) {
  TraceAnalysis empty;
  empty.path = "x";
  const Json trace = OfOne(empty);
  for (const char* key : {"rank", "world_size", "engine", "engine_version", "base_time_ns", "span",
                          "steps", "idle", "classifier", "scope", "ops_by_shape"}) {
    EXPECT_FALSE(trace.contains(key)) << key;
  }
  for (const char* key : {"devices", "kernels", "copies", "memsets", "ops", "notes"}) {
    EXPECT_EQ(trace[key], Json::array()) << key;
  }
}

TEST(AnalyzeJson, BadBytesInNamesStayValidJson) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.kernels.rows[0].name = "bad\xff\x01name";
  EXPECT_EQ(OfOne(trace)["kernels"][0]["name"], "bad\xef\xbf\xbd\x01name");
}

TEST(AnalyzeJson, Ranks) {
  RunAnalysis run = TwoRanksForTest();
  run.skipped = {"x.txt: a text"};
  const Json all = Of(run);
  EXPECT_EQ(all["schema"], 1);
  EXPECT_EQ(all["tacho"]["version"], "1.2.3");
  EXPECT_EQ(all["ranks"]["world_size"], 3);
  EXPECT_THAT(all["ranks"]["present"], ElementsAre(0, 1));
  EXPECT_THAT(all["ranks"]["missing"], ElementsAre(2));
  EXPECT_EQ(all["ranks"]["table"].size(), 2u);
  EXPECT_EQ(all["ranks"]["slowest"], 1);
  EXPECT_THAT(all["skipped"], ElementsAre("x.txt: a text"));
}

// Checks that the schema file has every field that is written, and that all fields that it requires
// are written.
void CheckAgainst(const Json& value, const Json& schema, const Json& root,
                  const std::string& where) {
  const Json& rule =
      schema.contains("$ref") ? root["$defs"][schema["$ref"].get<std::string>().substr(8)] : schema;
  const std::string type = rule["type"];
  if (type == "object") {
    ASSERT_TRUE(value.is_object()) << where;
    for (const auto& [key, member] : value.items()) {
      if (rule.contains("properties") && rule["properties"].contains(key)) {
        CheckAgainst(member, rule["properties"][key], root, where + "." + key);
      } else {
        ASSERT_TRUE(rule["additionalProperties"].is_object())
            << where << "." << key << " is not in the schema";
        CheckAgainst(member, rule["additionalProperties"], root, where + "." + key);
      }
    }
    if (!rule.contains("required")) return;
    for (const Json& key : rule["required"]) {
      EXPECT_TRUE(value.contains(key.get<std::string>())) << where << " lacks " << key;
    }
  } else if (type == "array") {
    ASSERT_TRUE(value.is_array()) << where;
    for (const Json& item : value) CheckAgainst(item, rule["items"], root, where + "[]");
  } else if (type == "integer") {
    EXPECT_TRUE(value.is_number_integer()) << where;
  } else if (type == "number") {
    EXPECT_TRUE(value.is_number()) << where;
  } else if (type == "boolean") {
    EXPECT_TRUE(value.is_boolean()) << where;
  } else {
    EXPECT_TRUE(value.is_string()) << where;
    if (rule.contains("enum")) {
      EXPECT_THAT(rule["enum"], testing::Contains(value)) << where;
    }
  }
}

TEST(AnalyzeJson, FollowsTheSchemaFile) {
  std::ifstream file(TACHO_SOURCE_DIR "/docs/json.schema.json");
  const Json schema = Json::parse(file);
  RunAnalysis run = TwoRanksForTest();
  run.traces[0].scope = {Interval{{10'000}, {20'000}}, "0"};
  run.traces[0].ops.by_shape = run.traces[0].ops.rows;
  run.traces[0].ops.by_shape[0].shapes = "[[1, 2]]";
  run.traces[0].ops.key_averages.rows = run.traces[0].ops.rows;
  run.traces[0].copies.memsets = {1, {5}, 7};
  run.traces[0].devices[0].on_host = true;
  CheckAgainst(Of(run), schema, schema, "$");
}

TEST(AnalyzeJson, EqualPrintedKeysAreSummedUp) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  run.traces[0].facts.by_category = {{"\xfe", 1}, {"\xff", 2}};
  const std::string text = AnalyzeJson(run, "1");
  EXPECT_THAT(text, testing::HasSubstr("\"by_category\": {\"\xef\xbf\xbd\": 3}"));
}

TEST(AnalyzeJson, StepsOfAnEngineThatRanNoneTellNoTokens) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  run.traces[0].steps.steps.clear();
  const auto steps = Json::parse(AnalyzeJson(run, "1"))["traces"][0]["steps"];
  EXPECT_EQ(steps["count"], 0);
  EXPECT_FALSE(steps.contains("context_tokens"));
  EXPECT_FALSE(steps.contains("generation_tokens"));
}

TEST(AnalyzeJson, MissingRanksAreCappedButCounted) {
  RunAnalysis run = TwoRanksForTest();
  run.ranks.world_size = 9'000'000'000'000;
  run.ranks.missing = {{"", 9'000'000'000'000, 1, {{2, 8'999'999'999'999}}, 8'999'999'999'998}};
  const auto ranks = Json::parse(AnalyzeJson(run, "1"))["ranks"];
  EXPECT_EQ(ranks["missing"].size(), 1000u);
  EXPECT_EQ(ranks["missing_count"], 8'999'999'999'998);
  EXPECT_EQ(ranks["missing_in"][0]["ranks"].size(), 1000u);
  EXPECT_EQ(ranks["missing_in"][0]["count"], 8'999'999'999'998);
}

}  // namespace
}  // namespace tacho
