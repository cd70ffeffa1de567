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
              ElementsAre("w1: no file", "w2: no file"));
  for (const char* text : {"", "[]", "{", "{}", R"({"missing": 1})", R"({"missing": []})"})
    EXPECT_THAT(UnprovenOfRunJson(text), IsEmpty()) << text;
}

TEST(FindUnproven, OfEachRecordingOnce) {
  const FolderForTest folder;
  folder.Write("a/run.json", R"({"missing": ["w1: no file"]})");
  folder.Write("b/run.json", R"({"missing": ["w3: no file"]})");
  const auto in = [&](const char* trace) { return folder.path() + "/" + trace; };
  EXPECT_THAT(FindUnproven({in("a/traces/w0/x.json"), in("a/traces/w2/y.json"),
                            in("b/traces/w0/z.sqlite#pid=7"), in("none/traces/w0/x.json"),
                            in("a/elsewhere/w0/x.json"), "-"}),
              ElementsAre("w1: no file", "w3: no file"));
}

}  // namespace
}  // namespace tacho
