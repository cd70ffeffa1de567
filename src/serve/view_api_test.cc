#include "serve/view_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "model/trace_builder.h"
#include "report/json/analyze_json.h"
#include "view/tiles.h"
#include "view/viewed_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kHostile = "<img src=x onerror=alert(1)>\"\\\x1b[31m\xff";

// Two ranks, the second one not read at first. Each has kernels of 10 and 30 ns, 60 ns apart.
class ViewApiTest : public testing::Test {
 protected:
  static Trace MakeTrace() {
    TraceBuilder builder;
    builder.header().base_time_ns = 1'700'000'000 * kNsPerSecond;
    builder.Host("cpu_op", kHostile, {.start = 1000, .duration = 5});
    builder.Kernel("norm", {.start = 1000, .duration = 10});
    builder.Kernel("gemm", {.start = 1070, .duration = 30});
    return std::move(builder).Finish();
  }
  void Read(size_t rank) {
    const std::string path = run_.info().paths[rank];
    run_.Add(rank, MakeViewedRank(path, MakeTrace()));
    analysis_.traces.push_back(AnalyzeTrace(MakeTrace(), ViewRules()));
    analysis_.traces.back().path = path;
  }
  void Finish() {
    AnalyzeRun(analysis_);
    run_.Finish(std::make_shared<const RunAnalysis>(analysis_));
  }
  HttpAnswer Ask(std::string_view what, std::string query = "", std::string method = "GET") const {
    ServerRequest request;
    request.method = std::move(method);
    request.query = std::move(query);
    return api_.Answer(what, request);
  }
  Json JsonOf(std::string_view what, std::string query = "") const {
    const HttpAnswer answer = Ask(what, std::move(query));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body);
  }

  RunAnalysis analysis_;
  ServedRun run_{{.version = "1.2",
                  .title = "run",
                  .command_paths = "run",
                  .paths = {"run/a.json", "run/b.json"},
                  .stored_bytes = 100,
                  .start = {ServedStart::Kind::kGap, 1, {}}},
                 ViewRules()};
  MarksFile marks_{""};
  ViewApi api_{run_, marks_};
};

TEST_F(ViewApiTest, ARunWithoutRequestsSaysSo) {
  for (const char* what : {"request", "step_requests"}) {
    EXPECT_THAT(Ask(what, "list=0&rank=0&number=1").body, HasSubstr("not analysed yet"));
  }
  Read(0);
  Finish();
  for (const char* what : {"request", "step_requests"}) {
    const HttpAnswer answer = Ask(what, "list=0&rank=0&number=1");
    EXPECT_EQ(answer.status, 404);
    EXPECT_THAT(answer.body, HasSubstr("no requests that are joined with steps"));
  }
}

TEST_F(ViewApiTest, RanksAppearAsTheyAreRead) {
  run_.Begin(0);
  Json meta = JsonOf("meta");
  EXPECT_EQ(meta["tacho"]["version"], "1.2");
  ASSERT_EQ(meta["ranks"].size(), 2u);
  EXPECT_EQ(meta["ranks"][0]["state"], "reading");
  EXPECT_EQ(meta["ranks"][1]["state"], "waiting");
  EXPECT_EQ(meta["ranks"][1]["path"], "run/b.json");
  EXPECT_EQ(meta["steps"].size(), 0u);
  EXPECT_EQ(Ask("tiles", "rank=0&rows=0&from=0&width=1&columns=1").status, 404);
  Read(0);
  run_.AddBytes(60);
  run_.Fail(1, "it is broken");
  meta = JsonOf("meta");
  EXPECT_EQ(meta["ranks"][0]["state"], "read");
  EXPECT_EQ(meta["ranks"][0]["span"], (Json{{"from_ns", 0}, {"to_ns", 100}}));
  EXPECT_EQ(meta["ranks"][0]["offset_ns"], -1000);
  EXPECT_EQ(meta["ranks"][1]["why"], "it is broken");
  EXPECT_EQ(meta["span"], (Json{{"from_ns", 0}, {"to_ns", 100}}));
  EXPECT_EQ(
      meta["read"],
      (Json{{"traces", 2}, {"read", 1}, {"failed", 1}, {"stored_bytes", 100}, {"read_bytes", 60}}));
  EXPECT_EQ(meta["palettes"]["work"][0], (Json{{"name", "gemm"}, {"color", 0}}));
  EXPECT_EQ(meta["categories"]["gemm.dense"], 0);
  ASSERT_EQ(meta["gaps"].size(), 1u);
  EXPECT_EQ(meta["gaps"][0]["from_ns"], 10);
  EXPECT_EQ(meta["gaps"][0]["to_ns"], 70);
  EXPECT_FALSE(meta.contains("start")) << "a rank that is still read may have a longer gap";
}

TEST_F(ViewApiTest, TotalsLeaveOutAMergedFile) {
  Read(0);
  Read(1);
  analysis_.traces[1].facts.role = TraceRole::kMerged;
  Finish();
  const Json totals = JsonOf("summary")["totals"];
  EXPECT_EQ(totals["devices"], 1);
  EXPECT_EQ(totals["window_ns"], 100);
  EXPECT_EQ(totals["compute_ns"], 40);
  EXPECT_EQ(totals["idle_ns"], 60);
  int64_t idle = 0, work = 0;
  for (const Json& cause : totals["causes"]) idle += cause["ns"].get<int64_t>();
  for (const Json& category : totals["work"]) work += category["ns"].get<int64_t>();
  EXPECT_EQ(idle, 60);
  EXPECT_EQ(work, 40);
}

TEST_F(ViewApiTest, WhatNeedsAllRanksWaitsForThem) {
  EXPECT_EQ(Ask("summary").status, 409);
  EXPECT_EQ(Ask("analysis").status, 409);
  Read(0);
  Read(1);
  Finish();
  EXPECT_EQ(Ask("analysis").body, AnalyzeJson(analysis_, "1.2"));
  const Json summary = JsonOf("summary");
  EXPECT_THAT(summary["verdict"].get<std::string>(), HasSubstr("busy"));
  EXPECT_EQ(summary["answers"].size(), 15u);
  EXPECT_EQ(summary["answers"][0]["id"], "trust");
  EXPECT_THAT(summary["next"][0].get<std::string>(), testing::StartsWith("tacho analyze run"));
  for (const Json& answer : summary["answers"]) {
    EXPECT_NE(answer.contains("sentence"), answer.contains("cannot_tell")) << answer;
  }
  const Json meta = JsonOf("meta");
  EXPECT_EQ(meta["start"]["from_ns"], 10);
  EXPECT_EQ(meta["start"]["to_ns"], 70);
  EXPECT_EQ(meta["start"]["rank"], 0);
  const auto row = meta["start"]["row"].get<size_t>();
  EXPECT_EQ(meta["ranks"][0]["rows"][row]["kind"], "idle");
}

// Corresponds to "busy at least" in the terminal, which is shown even if idle time is known.
TEST_F(ViewApiTest, WhatARankCannotTellIsInMeta) {
  const auto add = [&](size_t rank, const Trace& trace, Trace same) {
    const std::string path = run_.info().paths[rank];
    run_.Add(rank, MakeViewedRank(path, std::move(same)));
    analysis_.traces.push_back(AnalyzeTrace(trace, ViewRules()));
    analysis_.traces.back().path = path;
  };
  add(0, HalfLost(), HalfLost());
  add(1, OutOfOrder(), OutOfOrder());
  Json ranks = JsonOf("meta")["ranks"];
  EXPECT_EQ(ranks[0]["no_idle_time"], "GPU work is missing from the recording");
  EXPECT_EQ(ranks[0]["busy_is_least"], true);
  EXPECT_FALSE(ranks[0].contains("no_device_time") || ranks[0].contains("incomplete"));
  EXPECT_EQ(ranks[1]["no_device_time"], "GPU work lies out of the order of its launches");
  EXPECT_FALSE(ranks[1].contains("busy_is_least")) << "there is no busy time";
  Finish();
  ranks = JsonOf("meta")["ranks"];
  EXPECT_EQ(ranks[0]["incomplete"], true);
  EXPECT_EQ(ranks[1]["incomplete"], true);
  EXPECT_FALSE(ranks[0].contains("no_figures"));
}

TEST_F(ViewApiTest, RecordsThatTheProfilerDroppedMakeBusyTimeALowerBound) {
  Read(0);
  Read(1);
  analysis_.traces[1].notes.Add(NoteId::kProducerLostEvents, "", 1);
  EXPECT_FALSE(JsonOf("meta")["ranks"][1].contains("busy_is_least"));
  Finish();
  const Json ranks = JsonOf("meta")["ranks"];
  EXPECT_FALSE(ranks[0].contains("busy_is_least") || ranks[0].contains("incomplete"));
  EXPECT_EQ(ranks[1]["busy_is_least"], true);
  EXPECT_EQ(ranks[1]["incomplete"], true);
  EXPECT_FALSE(ranks[1].contains("no_idle_time"));
}

TEST_F(ViewApiTest, WhyThereIsNoAnalysis) {
  Read(0);
  run_.Finish(Error{ErrorKind::kUsage, "--rank 99: \"there\" is none"});
  for (const char* const what : {"summary", "analysis"}) {
    const HttpAnswer answer = Ask(what);
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(Json::parse(answer.body), (Json{{"error", "--rank 99: \"there\" is none"}}));
  }
  EXPECT_EQ(JsonOf("meta")["ranks"][0]["state"], "read");
}

TEST_F(ViewApiTest, ANameIsAPlaceToBegin) {
  ServedRunInfo info = run_.info();
  info.start = {ServedStart::Kind::kName, 0, {}, "emm"};
  ServedRun run(info, ViewRules());
  run.Add(0, MakeViewedRank(info.paths[0], MakeTrace()));
  run.Fail(1, "it is broken");
  run.Finish(std::make_shared<const RunAnalysis>());
  const Json start = Json::parse(ViewApi(run, marks_).Answer("meta", {}).body)["start"];
  EXPECT_EQ(start["from_ns"], 70);
  EXPECT_EQ(start["q"], "emm");
}

TEST_F(ViewApiTest, NamesAreTextWhateverIsInThem) {
  Read(0);
  const HttpAnswer answer = Ask("names", "rank=0");
  EXPECT_EQ(answer.content_type, kJsonType);
  const Json names = Json::parse(answer.body);
  EXPECT_EQ(names["first"], 0);
  EXPECT_THAT(names["names"].dump(), HasSubstr(R"(<img src=x onerror=alert(1)>\"\\\u001b[31m)"));
  EXPECT_EQ(names["names"].size(), JsonOf("meta")["ranks"][0]["names"]);
  const size_t count = names["names"].size();
  EXPECT_EQ(JsonOf("names", "rank=0&from=1")["names"].size(), count - 1);
  EXPECT_EQ(Ask("names", "rank=0&from=" + std::to_string(count + 1)).status, 400);
}

TEST_F(ViewApiTest, TilesAreThoseOfTheRows) {
  Read(0);
  const Json rows = JsonOf("meta")["ranks"][0]["rows"];
  size_t stream = 0;
  while (rows[stream]["kind"] != "stream") ++stream;
  const auto rank = run_.view().ranks()[0];
  const HttpAnswer answer =
      Ask("tiles", "rank=0&from=-64&width=64&columns=4&rows=" + std::to_string(stream));
  EXPECT_EQ(answer.content_type, "application/octet-stream");
  const TileLane lane{static_cast<uint32_t>(stream), 0, rank->rows()[stream].lanes.data()};
  EXPECT_EQ(answer.body, EncodeTiles({&lane, 1}, {{1000 - 64}, {64}, 4}));
}

TEST_F(ViewApiTest, ASliceIsFoundByItsPlaceAndByATime) {
  Read(0);
  const Json rows = JsonOf("meta")["ranks"][0]["rows"];
  size_t stream = 0;
  while (rows[stream]["kind"] != "stream") ++stream;
  const std::string row = "rank=0&row=" + std::to_string(stream);
  const Json slice = JsonOf("slice", row + "&lane=0&place=1");
  EXPECT_EQ(slice["kind"], "kernel");
  EXPECT_EQ(slice["name"], "gemm");
  EXPECT_EQ(slice["from_ns"], 70);
  EXPECT_EQ(slice["to_ns"], 100);
  EXPECT_EQ(slice["category"], "gemm.dense");
  EXPECT_FALSE(slice.contains("launch"));
  EXPECT_EQ(JsonOf("at", row + "&t=75"), slice);
  EXPECT_EQ(JsonOf("at", row + "&t=1000000"), slice) << "the nearest";
  EXPECT_EQ(JsonOf("at", row + "&t=0&lane=0")["place"], 0);
  EXPECT_EQ(Ask("slice", row + "&lane=0&place=2").status, 404);
  EXPECT_EQ(Ask("slice", row + "&lane=7&place=0").status, 404);
  EXPECT_EQ(Ask("slice", row + "&lane=0").status, 400);
  EXPECT_EQ(Ask("slice", "rank=0&row=999&lane=0&place=0").status, 400);
  EXPECT_EQ(Ask("slice", "rank=1&row=0&lane=0&place=0").status, 404);
  EXPECT_EQ(Ask("at", "rank=0&row=0&t=0").status, 404) << "the trace has no step";
}

TEST_F(ViewApiTest, ASelectionAddsUpToItsWindow) {
  Read(0);
  Read(1);
  const Json all = JsonOf("selection", "from=5&to=85");
  std::map<int, int64_t> sums;
  for (const Json& row : all["idle"])
    sums[row["rank"].get<int>()] += row["total_ns"].get<int64_t>();
  EXPECT_EQ(sums, (std::map<int, int64_t>{{0, 80}, {1, 80}}));
  const Json one = JsonOf("selection", "from=5&to=85&rank=0");
  const auto gemm =
      std::ranges::find(one["names"], "gemm", [](const Json& row) { return row["name"]; });
  ASSERT_NE(gemm, one["names"].end());
  EXPECT_EQ((*gemm)["total_ns"], 15);
  EXPECT_EQ((*gemm)["longest_ns"], 30);
  EXPECT_EQ((*gemm)["longest_at"]["from_ns"], 70);
  EXPECT_EQ((*gemm)["kind"], "kernel");
  EXPECT_EQ((*gemm)["palette"], "work");
  const std::string steps = "from=5&to=85&rank=0&rows=0";
  EXPECT_EQ(JsonOf("selection", steps)["names"].size(), 0u);
  for (const char* bad : {"from=5", "from=5&to=4", "from=5&to=85&rows=0", "from=5&to=85&rank=7",
                          "from=5&to=85&rank=0&rows=99"})
    EXPECT_EQ(Ask("selection", bad).status, 400) << bad;
}

TEST_F(ViewApiTest, SearchAndNext) {
  Read(0);
  Read(1);
  const Json found = JsonOf("search", "q=GEM");
  EXPECT_EQ(found["total"], 2);
  EXPECT_EQ(found["names"][0]["name"], "gemm");
  EXPECT_EQ(found["names"][0]["at"]["from_ns"], 70);
  EXPECT_EQ(JsonOf("search", "q=gemm&rank=1")["total"], 1);
  const Json hit = JsonOf("next", "what=search&q=gemm&from=-9");
  EXPECT_EQ(hit["name"], "gemm");
  EXPECT_EQ(hit["rank"], 0);
  const std::string after = "0," + hit["row"].dump() + "," + hit["lane"].dump();
  EXPECT_EQ(JsonOf("next", "what=search&q=gemm&from=70&after=" + after)["rank"], 1);
  EXPECT_TRUE(JsonOf("next", "what=search&q=gemm&from=70&rank=0&after=" + after).is_null());
  const Json gap = JsonOf("next", "what=gap&nth=1");
  EXPECT_EQ(gap["from_ns"], 10);
  EXPECT_EQ(gap["to_ns"], 70);
  EXPECT_EQ(JsonOf("next", "what=gap&from=90&forward=0&rank=1")["rank"], 1);
  EXPECT_TRUE(JsonOf("next", "what=gap&nth=3").is_null());
  EXPECT_TRUE(JsonOf("next", "what=step&nth=1").is_null());
  const Json inside = JsonOf("gaps", "from=60&to=90&most=1");
  EXPECT_EQ(inside["count"], 2);
  ASSERT_EQ(inside["gaps"].size(), 1u);
  EXPECT_EQ(inside["gaps"][0]["rank"], 0);
  EXPECT_EQ(inside["gaps"][0]["from_ns"], 10);
  EXPECT_EQ(inside["gaps"][0]["inside_ns"], 10);
  EXPECT_EQ(JsonOf("gaps", "from=60&to=90&rank=1")["gaps"][0]["rank"], 1);
  for (const char* bad : {"from=1", "from=2&to=1", "from=1&to=2&rank=9", "from=1&to=2&most=101"})
    EXPECT_EQ(Ask("gaps", bad).status, 400) << bad;
  EXPECT_EQ(JsonOf("next", "what=slice&rank=0&row=" + hit["row"].dump() + "&from=0")["from_ns"],
            70);
  for (const char* bad : {"", "what=x&from=0", "what=gap", "what=gap&nth=0", "what=search&from=0",
                          "what=slice&from=0", "what=slice&rank=0&from=0&row=99",
                          "what=search&q=a&from=0&after=1", "what=step&from=0&forward=2"})
    EXPECT_EQ(Ask("next", bad).status, 400) << bad;
  EXPECT_EQ(Ask("search", "q=").status, 400);
  EXPECT_EQ(Ask("search", "q=a&most=5000").status, 400);
}

TEST_F(ViewApiTest, AFlameGraphOfARow) {
  Read(0);
  const Json rows = JsonOf("meta")["ranks"][0]["rows"];
  size_t thread = 0;
  while (rows[thread]["kind"] != "thread") ++thread;
  const std::string row = "rank=0&row=" + std::to_string(thread);
  const Json nodes = JsonOf("flame", row)["nodes"];
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0], (Json{"", nodes[0][1], 0, nodes[0][3], 5, 0}));
  EXPECT_THAT(nodes[1][0].get<std::string>(), testing::StartsWith("<img src=x onerror"));
  EXPECT_EQ(nodes[1][4], 5);
  EXPECT_EQ(JsonOf("flame", row + "&from=0&to=100&least=6")["nodes"].size(), 1u);
  EXPECT_EQ(Ask("flame", row + "&from=0").status, 400);
  EXPECT_EQ(Ask("flame", "rank=0").status, 400);
}

TEST_F(ViewApiTest, TheModelIsToldOnceAllIsRead) {
  Read(0);
  EXPECT_EQ(Ask("model", "rank=0").status, 409);
  Finish();
  EXPECT_EQ(JsonOf("model", "rank=0"),
            (Json{{"no_layers", "no step of the engine is named"},
                  {"phases", Json::array()},
                  {"room", Json::array()},
                  {"no_roofline", "the model is not known (--model-config)"}}));
  EXPECT_EQ(Ask("model", "rank=1").status, 404);
  EXPECT_EQ(Ask("model").status, 400);
  const Json meta = JsonOf("meta");
  EXPECT_EQ(meta["blocks"].size(), kLayerBlocks);
  EXPECT_EQ(meta["palettes"]["blocks"][meta["blocks"]["qkv"].get<size_t>()]["name"], "qkv");
}

TEST_F(ViewApiTest, BadParametersAreNamed) {
  Read(0);
  const std::string good = "rank=0&rows=0&from=0&width=64&columns=8";
  EXPECT_EQ(Ask("tiles", good).status, 200);
  for (const auto& [bad, names] : std::vector<std::pair<std::string, std::string>>{
           {"", "rank="},
           {"rank=2", "rank="},
           {"rank=-1", "rank="},
           {"rank=0&from=0&width=64&columns=8", "rows="},
           {"rank=0&rows=99&from=0&width=64&columns=8", "rows="},
           {"rank=0&rows=0&from=0&width=63&columns=8", "width="},
           {"rank=0&rows=0&from=0&width=0&columns=8", "width="},
           {"rank=0&rows=0&from=1&width=64&columns=8", "from="},
           {"rank=0&rows=0&from=0&width=64&columns=8193", "columns="},
           {"rank=0&rows=0&from=0&width=64", "columns="}}) {
    const HttpAnswer answer = Ask("tiles", bad);
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_THAT(Json::parse(answer.body)["error"].get<std::string>(), HasSubstr(names)) << bad;
  }
  EXPECT_EQ(Ask("tiles", "rank=1&rows=0&from=0&width=64&columns=8").status, 404);
  EXPECT_EQ(Ask("nothing").status, 404);
  EXPECT_EQ(Ask("meta", "", "PUT").status, 405);
  const std::string all = "rank=0&from=0&width=64&columns=8192&rows=";
  std::string rows;
  for (int i = 0; i < 200; ++i) rows += i == 0 ? "2" : ",2";
  EXPECT_THAT(Ask("tiles", all + rows).body, HasSubstr("ask for fewer rows"));
}

}  // namespace
}  // namespace tacho
