#include "analysis/ranks/recordings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Files of one process, rank 0, device 0.
class Files {
 public:
  RankInput& Add(std::string trace_id, Interval work) {
    TraceFacts& facts = facts_.emplace_back();
    facts.rank = 0;
    facts.pids = {5};
    DeviceTime& device = devices_.emplace_back().emplace_back();
    device.device = "0";
    device.window = work;
    RankInput input;
    input.facts = &facts;
    input.devices = &devices_.back();
    input.span = work;
    input.trace_id = std::move(trace_id);
    inputs_.push_back(std::move(input));
    return inputs_.back();
  }
  TraceFacts& facts(size_t i) { return facts_[i]; }
  std::string& path(size_t i) { return inputs_[i].path; }
  std::vector<DeviceTime>& devices(size_t i) { return devices_[i]; }
  [[nodiscard]] const std::vector<RankInput>& inputs() const { return inputs_; }

 private:
  std::deque<TraceFacts> facts_;
  std::deque<std::vector<DeviceTime>> devices_;
  std::vector<RankInput> inputs_;
};

TEST(RecordedTimes, AreUnixTimesWhereAnythingTellsThem) {
  constexpr int64_t kIn2023 = 1'682'725'898'000'000'000;
  Files files;
  files.Add("", {{10}, {20}}).base_time_ns = 1000;
  files.Add("", {{30}, {40}});                // lost its base time
  files.Add("", {{kIn2023}, {kIn2023 + 5}});  // never had one
  files.Add("", {}).base_time_ns = 1000;      // has no event
  EXPECT_THAT(RecordedTimes(files.inputs()),
              ElementsAre(Interval{{1010}, {1020}}, Interval{{1030}, {1040}},
                          Interval{{kIn2023}, {kIn2023 + 5}}, std::nullopt));
  files.Add("", {{0}, {1}}).base_time_ns = 2000;  // two bases: unclear which one was lost
  EXPECT_EQ(RecordedTimes(files.inputs())[1], (Interval{{30}, {40}}));
}

TEST(Slices, AreOfOneTraceIdRankDeviceAndProcess) {
  const auto are_slices = [](auto change) {
    Files files;
    files.Add("A", {{0}, {10}});
    files.Add("A", {{5}, {15}});
    change(files);
    return AreSlices(files.inputs()[0], files.inputs()[1]);
  };
  EXPECT_TRUE(are_slices([](Files&) {}));
  EXPECT_FALSE(are_slices([](Files& f) { f.facts(0).rank = 1; }));
  EXPECT_FALSE(are_slices([](Files& f) { f.facts(0).rank = f.facts(1).rank = std::nullopt; }));
  EXPECT_FALSE(are_slices([](Files& f) { f.facts(0).world_size = 2; }));
  EXPECT_FALSE(are_slices([](Files& f) { f.facts(0).pids = {6}; }));
  EXPECT_TRUE(are_slices([](Files& f) { f.facts(0).pids = {}; }));
  EXPECT_FALSE(are_slices([](Files& f) { f.devices(0)[0].device = "1"; }));
  EXPECT_TRUE(are_slices([](Files& f) { f.path(0) = "tacho-20261123-143151-w0_rank0.json"; }));
  EXPECT_FALSE(are_slices([](Files& f) {
    f.path(0) = "tacho-20261123-143151-w0_rank0.json";
    f.path(1) = "tacho-20261123-143251-w0_rank0.json";
  }));
  Files none;
  none.Add("", {{0}, {10}});
  none.Add("", {{5}, {15}});
  EXPECT_FALSE(AreSlices(none.inputs()[0], none.inputs()[1]));
}

TEST(Slices, OverlapDirectlyOrThroughOthers) {
  Files files;
  files.Add("A", {{100}, {200}});
  files.Add("B", {{0}, {500}});
  files.Add("A", {{150}, {300}});
  files.Add("A", {{299}, {400}});
  files.Add("A", {{400}, {450}});  // begins where the last one ends: no overlap
  EXPECT_THAT(OverlappingSlices(files.inputs()), ElementsAre(ElementsAre(0, 2, 3)));
  EXPECT_THAT(GroupByRank(files.inputs()), ElementsAre(ElementsAre(0, 2, 3, 4), ElementsAre(1)));
  EXPECT_THAT(OverlappingSlices({}), IsEmpty());
}

}  // namespace
}  // namespace tacho
