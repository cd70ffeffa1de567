// Results that were changed by hand or by accident: each number in turn becomes the largest, the
// smallest and 0. They are refused, or every screen can be made of them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "report/analyze_document.h"
#include "report/analyze_json.h"
#include "report/analyze_markdown.h"
#include "run/read_results.h"

namespace tacho {
namespace {

constexpr int64_t kMostNs = int64_t{1} << 61;

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

}  // namespace
}  // namespace tacho
