#include "analysis/compare/comparable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ranks/rank_counts.h"

namespace tacho {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// A run of one trace that spans `start` to `end` ns.
RunAnalysis Window(const char* path, int64_t start, int64_t end) {
  RunAnalysis run;
  TraceAnalysis& trace = run.traces.emplace_back();
  trace.path = path;
  trace.header.trace_id = path;
  trace.span = {{0}, {1000}};
  trace.scope.window = Interval{{start}, {end}};
  return run;
}

TEST(RunsOnBothSides, WindowsThatOverlapUnlessAllAreEqual) {
  const RunAnalysis first = Window("a", 0, 100), later = Window("a", 100, 200),
                    between = Window("a", 50, 150), other = Window("b", 0, 100);
  EXPECT_THAT(RunsOnBothSides({first}, {later}), IsEmpty());
  EXPECT_THAT(RunsOnBothSides({first}, {between}), ElementsAre("a part of a"));
  EXPECT_THAT(RunsOnBothSides({first}, {first}), IsEmpty());
  EXPECT_THAT(RunsOnBothSides({first, other}, {other, first}), IsEmpty());
  EXPECT_THAT(RunsOnBothSides({first, other}, {first}), ElementsAre("a"));
  EXPECT_THAT(RunsOnBothSides({first, other}, {other, between}), ElementsAre("b", "a part of a"));
}

TEST(RunsOnBothSides, OneRankOfSeveral) {
  RunAnalysis ranks = Window("a", 0, 100);
  ranks.traces.push_back(Window("b", 0, 100).traces.front());
  EXPECT_THAT(RunsOnBothSides({ranks}, {Window("b", 0, 100)}), ElementsAre("b"));
  EXPECT_THAT(RunsOnBothSides({ranks}, {Window("c", 0, 100)}), IsEmpty());
  RunAnalysis later = Window("a", 50, 150);
  later.traces.push_back(Window("b", 50, 150).traces.front());
  EXPECT_THAT(RunsOnBothSides({ranks}, {later}), ElementsAre("a part of a"));
}

// Compares a base that records its options with `now`.
RunChanges OptionsOf(const RunAnalysis& now) {
  RunAnalysis base = Window("a", 0, 100);
  base.traces[0].facts.options = {"record_shapes"};
  RunChanges changes;
  changes.base = FactsOf({base});
  changes.now = FactsOf({now});
  changes.base.has_device_work = changes.now.has_device_work = true;
  CheckComparable(changes);
  return changes;
}

TEST(CheckComparable, WithoutAHeaderTheOptionsAreUnknown) {
  RunAnalysis now = Window("b", 0, 100);
  const RunChanges none = OptionsOf(now);
  EXPECT_EQ(none.obstacles.front().text, "other recording options: base record_shapes, new none");
  now.traces[0].header = {};
  const RunChanges unknown = OptionsOf(now);
  EXPECT_EQ(unknown.obstacles.front().id, kNothingCommon);
  EXPECT_THAT(unknown.remarks, Contains("recording options: base record_shapes, new unknown"));
}

// SGLang's --profile-by-stage writes such files.
TEST(FactsOf, TheFilesOfOneRanksStagesAreOneRank) {
  RunAnalysis run = Window("a/prefill", 0, 100);
  run.traces.push_back(Window("a/decode", 100, 200).traces.front());
  run.traces.push_back(Window("b", 0, 100).traces.front());
  for (TraceAnalysis& trace : run.traces) trace.devices.emplace_back();
  EXPECT_EQ(FactsOf({run}).ranks, 3u);
  for (const auto& [path, group] : {std::pair("a/prefill", 0), {"a/decode", 0}, {"b", 1}}) {
    RankRow& row = run.ranks.rows.emplace_back();
    row.path = path;
    row.group = static_cast<size_t>(group);
  }
  EXPECT_EQ(FactsOf({run}).ranks, 2u);
  EXPECT_EQ(CountRanks(run).devices, 2u);
  // In a merged file each rank has a device of its own.
  run = Window("merged", 0, 100);
  run.traces[0].facts.role = TraceRole::kMerged;
  run.traces[0].devices.resize(2);
  run.traces[0].devices[0].device = "GPU 0";
  EXPECT_EQ(FactsOf({run}).ranks, 2u);
}

TEST(CheckComparable, AWholeRecordingThatIsIncompleteIsNotCompared) {
  RunChanges changes;
  changes.base.has_device_work = changes.now.has_device_work = changes.base.lost_data = true;
  changes.whole.emplace();
  CheckComparable(changes);
  ASSERT_EQ(changes.obstacles.size(), 1u);
  EXPECT_EQ(changes.obstacles[0].text,
            "all of the recording: base is incomplete, so its sums are lower bounds");
}

// The obstacles between two whole recordings where only `base` has kernels.
std::vector<std::string> ObstaclesWithoutKernels(bool has_device_work, bool lost_data,
                                                 bool on_host = false) {
  RunChanges changes;
  changes.base.has_device_work = true;
  changes.now.has_device_work = has_device_work;
  changes.now.lost_data = lost_data;
  changes.now.on_host = on_host;
  KernelChange kernel;
  kernel.time = {1'000, 0, {}};
  kernel.base_calls = 1;
  changes.whole = WholeChange{{}, {}, {}, {kernel}};
  CheckComparable(changes);
  std::vector<std::string> texts;
  for (const Obstacle& obstacle : changes.obstacles) texts.push_back(obstacle.text);
  return texts;
}

TEST(CheckComparable, ASideWithoutKernelsIsNoOtherModel) {
  EXPECT_THAT(ObstaclesWithoutKernels(true, false),
              ElementsAre("all of the recording: new has no kernels"));
  EXPECT_THAT(ObstaclesWithoutKernels(true, true),
              ElementsAre("all of the recording: new has no kernels: its trace is incomplete"));
  EXPECT_THAT(ObstaclesWithoutKernels(false, true),
              ElementsAre("new has no work of a device: its trace is incomplete"));
  EXPECT_THAT(ObstaclesWithoutKernels(true, true, true),
              ElementsAre("new has no GPU work: it ran on a CPU, or its trace is incomplete"));
}

}  // namespace
}  // namespace tacho
