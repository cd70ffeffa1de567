#include "text/short_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::ElementsAre;

TEST(ShortPaths, WithoutTheCommonFolderAndTheEndings) {
  EXPECT_THAT(ShortPaths({"run/rank0.pt.trace.json.gz", "run/rank1.pt.trace.json.gz"}),
              ElementsAre("rank0", "rank1"));
  EXPECT_THAT(ShortPaths({"run/rank0.json"}), ElementsAre("rank0"));
  EXPECT_THAT(ShortPaths({"run/a.sqlite#pid=144", "run/a.sqlite#pid=145"}),
              ElementsAre("pid=144", "pid=145"));
  EXPECT_THAT(ShortPaths({"run/a.sqlite#pid=144", "run/b.sqlite#pid=144"}),
              ElementsAre("a.sqlite#pid=144", "b.sqlite#pid=144"));
  EXPECT_THAT(ShortPaths({"run/a.sqlite#pid=144"}), ElementsAre("a.sqlite#pid=144"));
}

TEST(ShortPaths, EndingsOnlyAtTheEnd) {
  EXPECT_THAT(ShortPaths({"m/model.ptq/r0.json", "m/r1.json"}), ElementsAre("model.ptq/r0", "r1"));
  EXPECT_THAT(ShortPaths({"s/x.json.1", "s/x.1.json"}), ElementsAre("x.json.1", "x.1"));
}

TEST(ShortPaths, WholeWhereTheyWouldBeEqual) {
  EXPECT_THAT(ShortPaths({"s/a.json", "s/a.json.gz", "s/b.json"}),
              ElementsAre("s/a.json", "s/a.json.gz", "b"));
}

}  // namespace
}  // namespace tacho
