// Results that were changed by hand or by accident: each number in turn becomes the largest, the
// smallest and 0. They are refused, or every screen can be made of them.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "io/json_reader.h"
#include "report/documents/analyze_document.h"
#include "report/documents/analyze_markdown.h"
#include "report/json/analyze_json.h"
#include "run/read_results.h"

namespace tacho {
namespace {

void MakeScreens(Results&& results) {
  RunAnalysis run;
  run.traces = std::move(results.traces);
  run.together = std::move(results.together);
  AnalyzeRun(run, results.is_collection);
  const ScreenOptions screen;
  EXPECT_FALSE(AnalyzeText(run, screen).empty());
  EXPECT_FALSE(AnalyzeMarkdown(run, screen, "1").empty());
  EXPECT_FALSE(AnalyzeJson(run, "1").empty());
}

constexpr int64_t kMostNs = JsonReader::kMostNs;

TEST(HostileResults, EveryNumberMayBeAnything) {
  std::ifstream file(TACHO_SOURCE_DIR "/tests/fuzz/corpus/results/rank.json");
  const auto good = nlohmann::json::parse(file);
  const auto values = good.flatten();
  size_t read = 0, refused = 0;
  for (const auto& [path, value] : values.items()) {
    if (!value.is_number()) continue;
    for (const int64_t number : {kMostNs, -kMostNs, int64_t{0}, INT64_MAX}) {
      nlohmann::json changed = good;
      changed[nlohmann::json::json_pointer(path)] = number;
      auto results = ParseResults(changed.dump());
      SCOPED_TRACE(path + " " + std::to_string(number));
      if (!results) {
        EXPECT_NE(results.error().message, "");
        ++refused;
        continue;
      }
      MakeScreens(*std::move(results));
      ++read;
    }
  }
  EXPECT_GT(read, 300u);
  EXPECT_GT(refused, 50u);
}

TEST(HostileResults, TimesThatDoNotAddUpAreRefused) {
  std::ifstream file(TACHO_SOURCE_DIR "/tests/fuzz/corpus/results/rank.json");
  const auto good = nlohmann::json::parse(file);
  for (const char* path :
       {"/traces/0/devices/0/compute_ns", "/traces/0/devices/0/idle_ns",
        "/traces/0/devices/0/window_ns", "/traces/0/idle/busy_ns", "/traces/0/idle/causes/0/ns"}) {
    nlohmann::json changed = good;
    auto& number = changed.at(nlohmann::json::json_pointer(path));
    number = number.get<int64_t>() + 1;
    const auto results = ParseResults(changed.dump());
    ASSERT_FALSE(results) << path;
    EXPECT_NE(results.error().message.find("window_ns: expected "), std::string::npos)
        << results.error().message;
  }
}

TEST(HostileResults, AllNumbersOfOneNameMayBeTheLargest) {
  std::ifstream file(TACHO_SOURCE_DIR "/tests/fuzz/corpus/results/rank.json");
  const auto good = nlohmann::json::parse(file);
  const auto values = good.flatten();
  size_t read = 0, refused = 0;
  for (const uint64_t number : {static_cast<uint64_t>(kMostNs), JsonReader::kMostCount,
                                std::numeric_limits<uint64_t>::max()}) {
    std::set<std::string> names;
    for (const auto& [path, value] : values.items()) {
      if (value.is_number()) names.insert(path.substr(path.rfind('/') + 1));
    }
    for (const std::string& name : names) {
      nlohmann::json changed = good;
      for (const auto& [path, value] : values.items()) {
        if (value.is_number() && path.substr(path.rfind('/') + 1) == name && name != "schema")
          changed[nlohmann::json::json_pointer(path)] = number;
      }
      // The trace twice, as from two machines, so that sums are made.
      changed["traces"].push_back(changed["traces"][0]);
      changed["traces"][1]["path"] = "other";
      SCOPED_TRACE(name + " " + std::to_string(number));
      auto results = ParseResults(changed.dump());
      if (!results) {
        EXPECT_NE(results.error().message, "");
        ++refused;
        continue;
      }
      EXPECT_EQ(results->traces.size(), 2u);
      MakeScreens(*std::move(results));
      ++read;
    }
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refused, 50u);
}

}  // namespace
}  // namespace tacho
