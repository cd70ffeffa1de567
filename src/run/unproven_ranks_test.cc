#include "run/unproven_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UnprovenOfRunJson, DamageTellsNothing) {
  EXPECT_THAT(UnprovenOfRunJson(R"({"missing": ["w1: no file", 1, "w2: no file"]})"),
              ElementsAre(UnprovenRank{"w1: no file"}, UnprovenRank{"w2: no file"}));
  for (const char* text : {"", "[]", "{", "{}", R"({"missing": 1})", R"({"missing": []})"})
    EXPECT_THAT(UnprovenOfRunJson(text), IsEmpty()) << text;
}

TEST(UnprovenOfRunJson, KnowsWhichRankBroughtNoFile) {
  const auto unproven = [](const std::string& more) {
    return UnprovenOfRunJson(R"({"workers": [{"name": "w0", "ranks": [
        {"name": "w0 TP0", "engine": 0, "rank": 0, "files": ["t.json"]},
        {"name": "w0 TP1", "engine": 0, "rank": 1, "files": []})" +
                             more + R"(]}],
        "missing": ["w0 TP0 (http://a:1): damaged", "w0 TP1 (http://a:1): no file"]})");
  };
  const UnprovenRank damaged{"w0 TP0 (http://a:1): damaged"}, gone{"w0 TP1 (http://a:1): no file"};
  UnprovenRank known = gone;
  known.without_file = {"w0", 1};
  EXPECT_THAT(unproven(""), ElementsAre(damaged, known));
  EXPECT_THAT(unproven(R"(, {"name": "w0 DP1", "engine": 1, "rank": 0, "files": []})"),
              ElementsAre(damaged, gone))
      << "a file does not show whose it is";
  EXPECT_THAT(unproven(", 7"), ElementsAre(damaged, gone)) << "not written by tacho";
}

TEST(FindUnproven, OfEachRecordingOnce) {
  const FolderForTest folder;
  folder.Write("a/run.json", R"({"missing": ["w1: no file"]})");
  folder.Write("b/run.json", R"({"missing": ["w3: no file"]})");
  const auto in = [&](const char* trace) { return folder.path() + "/" + trace; };
  EXPECT_THAT(FindUnproven({in("a/traces/w0/x.json"), in("a/traces/w2/y.json"),
                            in("b/traces/w0/z.sqlite#pid=7"), in("none/traces/w0/x.json"),
                            in("a/elsewhere/w0/x.json"), "-"}),
              ElementsAre(UnprovenRank{"w1: no file"}, UnprovenRank{"w3: no file"}));
}

}  // namespace
}  // namespace tacho
