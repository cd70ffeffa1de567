#include "model/rank_identity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tacho {
namespace {

TEST(RankIdentity, NamesWorkerNumbersAndStage) {
  RankIdentity id;
  EXPECT_EQ(id.Name(), "");
  id.rank = 1;
  id.world_size = 2;
  EXPECT_EQ(id.Name(), "rank 1");
  id.worker = "w0";
  EXPECT_EQ(id.Name(), "w0 rank 1");
  id.tensor = 1;
  id.stage = "prefill";
  EXPECT_EQ(id.Name(), "w0 TP1 prefill");
  EXPECT_EQ(id.RankName(), "w0 TP1");
  id.data_parallel = 3;
  id.pipeline = 0;
  EXPECT_EQ(id.RankName(), "w0 DP3 PP0 TP1");
}

TEST(RankIdentity, TheOnlyRankOfAnEngineNeedsNoNumber) {
  RankIdentity id;
  id.rank = 0;
  id.world_size = 1;
  EXPECT_EQ(id.Name(), "rank 0");
  id.worker = "w2";
  EXPECT_EQ(id.Name(), "w2");
  id.worker.clear();
  id.data_parallel = 1;
  EXPECT_EQ(id.Name(), "DP1");
}

TEST(RankIdentity, NumbersOfOneAreLeftOut) {
  RankIdentity a{.worker = "w0",
                 .data_parallel = 0,
                 .pipeline = 0,
                 .tensor = 0,
                 .rank = 0,
                 .world_size = 2,
                 .stage = ""};
  RankIdentity b = a;
  b.tensor = b.rank = 1;
  LeaveOutSingles(std::vector{&a, &b});
  EXPECT_EQ(a.Name(), "w0 TP0");
  EXPECT_EQ(b.Name(), "w0 TP1");
}

TEST(RankIdentity, WorkersComeByNumber) {
  const auto named = [](const char* worker, int64_t rank) {
    RankIdentity id;
    id.worker = worker;
    id.rank = rank;
    return id;
  };
  std::vector<RankIdentity> ids = {named("", 0), named("w10", 0), named("w2", 1), named("w2", 0),
                                   named("w0", 3)};
  std::ranges::sort(ids, ComesBefore);
  std::vector<std::string> names;
  for (const RankIdentity& id : ids) names.push_back(id.Name());
  EXPECT_EQ(names, (std::vector<std::string>{"w0 rank 3", "w2 rank 0", "w2 rank 1", "w10 rank 0",
                                             "rank 0"}));
}

}  // namespace
}  // namespace tacho
