#include "analysis/ranks/folder_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace tacho {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr Interval kNow{{1000}, {2000}}, kLater{{2000}, {3000}};

class FolderWorkers : public testing::Test {
 protected:
  void Add(std::string path, int64_t rank, int64_t world_size, Interval when = kNow,
           std::optional<int64_t> data_parallel = {}) {
    RankIdentity& identity = identities_.emplace_back();
    identity.rank = rank;
    identity.world_size = world_size;
    identity.data_parallel = data_parallel;
    paths_.push_back(std::move(path));
    traces_.push_back({paths_.back(), when, &identity});
  }
  std::vector<std::string> Names() {
    NameWorkersByFolder(traces_);
    std::vector<std::string> names;
    for (const RankIdentity& identity : identities_) names.push_back(identity.worker);
    return names;
  }

  std::deque<RankIdentity> identities_;
  std::deque<std::string> paths_;
  std::vector<TraceOfWorker> traces_;
};

TEST_F(FolderWorkers, EnginesOnNodesOfTheirOwn) {
  for (const int64_t rank : {0, 1}) {
    Add("node-1:/tmp/profile/rank.json", rank, 2);
    Add("node-2:/tmp/profile/rank.json", rank, 2);
  }
  EXPECT_THAT(Names(), ElementsAre("node-1", "node-2", "node-1", "node-2"));
}

TEST_F(FolderWorkers, FetchedTracesOfThem) {
  Add("fetched/node-1/tmp/profile/rank0.json", 0, 1);
  Add("fetched/node-2/tmp/profile/rank0.json", 0, 1);
  EXPECT_THAT(Names(), ElementsAre("node-1", "node-2"));
}

TEST_F(FolderWorkers, AnEngineOverSeveralNodesHasNone) {
  Add("node-1:/tmp/rank.json", 0, 2);
  Add("node-2:/tmp/rank.json", 1, 2);
  Add("node-3:/tmp/rank.json", 0, 2);
  Add("node-4:/tmp/rank.json", 1, 2);
  EXPECT_THAT(Names(), Each(""));
}

TEST_F(FolderWorkers, DataParallelRanksOnNodesAreOfOneEngine) {
  Add("node-1:/tmp/rank.json", 0, 1, kNow, 0);
  Add("node-2:/tmp/rank.json", 0, 1, kNow, 1);
  EXPECT_THAT(Names(), Each(""));
}

TEST_F(FolderWorkers, SessionsOfOneEngineHaveNone) {
  Add("runs/first/rank0.json", 0, 1);
  Add("runs/second/rank0.json", 0, 1, kLater);
  EXPECT_THAT(Names(), Each(""));
}

TEST_F(FolderWorkers, OneFolderHasNone) {
  Add("run/a_rank0.json", 0, 1);
  Add("run/b_rank0.json", 0, 1);
  EXPECT_THAT(Names(), Each(""));
}

}  // namespace
}  // namespace tacho
