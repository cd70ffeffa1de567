#include "analysis/ranks/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "analysis/ranks/identity.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One file of a run. Its facts and devices live as long as the Folder.
struct File {
  std::string path;
  int64_t rank = -1, world_size = -1;
  std::string stage = {}, process = {};
  int64_t start = 0, length = 100, busy = 50, compute = 40;
  int64_t comm = 0, exposed_comm = 0;
  TraceRole role = TraceRole::kWorker;
  std::optional<Interval> span = {};  // absent: the window of the device
  std::string gpus = {}, trace_id = {};
  bool has_base_time = true;
  const std::vector<DeviceTime>* together = nullptr;
  bool complete = true;
};

class Folder {
 public:
  Folder& Add(const File& file) {
    TraceFacts& facts = facts_.emplace_back();
    facts.role = file.role;
    if (file.rank >= 0) facts.rank = file.rank;
    if (file.world_size >= 0) facts.world_size = file.world_size;
    facts.stage = file.stage;
    if (!file.process.empty()) facts.process_names = {file.process};
    facts.identity = IdentityOf(file.path, facts);
    DeviceTime& device = devices_.emplace_back().emplace_back();
    device.window = {{file.start}, {file.start + file.length}};
    device.busy = {file.busy};
    device.idle = {file.length - file.busy};
    device.compute = {file.compute};
    device.comm_busy = {file.comm};
    device.exposed_comm = {file.exposed_comm};
    RankInput input;
    input.path = file.path;
    input.facts = &facts;
    input.devices = &devices_.back();
    if (file.has_base_time) input.base_time_ns = 1'000'000;
    input.gpus = file.gpus;
    input.trace_id = file.trace_id;
    input.together = file.together;
    input.span = file.span.value_or(device.window);
    input.steps = 3;
    input.complete = file.complete;
    inputs_.push_back(input);
    return *this;
  }
  [[nodiscard]] RankTable Compare() const { return CompareRanks(inputs_); }
  [[nodiscard]] RankTable CompareReversed() const {
    std::vector<RankInput> reversed(inputs_.rbegin(), inputs_.rend());
    return CompareRanks(reversed);
  }

 private:
  std::deque<TraceFacts> facts_;
  std::deque<std::vector<DeviceTime>> devices_;
  std::vector<RankInput> inputs_;
};

std::vector<std::string> Paths(const RankTable& table) {
  std::vector<std::string> paths;
  for (const RankRow& row : table.rows) paths.push_back(row.path);
  return paths;
}

// Windows of 10 ns, each cut at the start of its own trace, while the ranks start 50 ns apart.
TEST(Ranks, AWindowDoesNotSplitARecording) {
  Folder folder;
  folder.Add({.path = "a", .rank = 0, .start = 0, .length = 10, .span = Interval{{0}, {100}}})
      .Add({.path = "b", .rank = 1, .start = 50, .length = 10, .span = Interval{{50}, {150}}})
      .Add({.path = "c", .rank = 2, .start = 500, .length = 10, .span = Interval{{500}, {600}}});
  const RankTable table = folder.Compare();
  EXPECT_EQ(table.rows[0].recording, table.rows[1].recording);
  EXPECT_NE(table.rows[0].recording, table.rows[2].recording);
}

TEST(Ranks, StandSideBySide) {
  Folder folder;
  folder.Add({.path = "d", .rank = 3, .world_size = 4, .start = 7, .busy = 80, .compute = 75})
      .Add({.path = "a", .rank = 0, .world_size = 4})
      .Add({.path = "c", .rank = 2, .world_size = 4})
      .Add({.path = "front", .role = TraceRole::kFrontend})
      .Add({.path = "merged", .world_size = 4, .role = TraceRole::kMerged});
  const RankTable table = folder.Compare();
  EXPECT_EQ(table.world_size, 4);
  EXPECT_THAT(table.present, ElementsAre(0, 2, 3));
  EXPECT_THAT(table.missing, ElementsAre(MissingRanks{"", 4, 1, {{1, 1}}, 1}));
  EXPECT_THAT(Paths(table), ElementsAre("a", "c", "d"));
  EXPECT_DOUBLE_EQ(table.busy_spread(), 0.3);
  EXPECT_EQ(table.slowest, 2u);
  EXPECT_THAT(table.warnings, IsEmpty());
  EXPECT_EQ(table.rows[2].start_unix_ns, 1'000'007);
  EXPECT_EQ(table.rows[2].window, DurationNs{100});
  EXPECT_EQ(table.rows[2].idle, DurationNs{20});
  EXPECT_EQ(Paths(folder.CompareReversed()), Paths(table));
}

TEST(Ranks, DataParallelEnginesAreToldApartAndNotMissing) {
  const RankTable table =
      Folder()
          .Add({.path = "dp2_rank0.1", .rank = 0, .world_size = 1, .process = "VLLM::Worker"})
          .Add({.path = "dp2_rank0.2",
                .rank = 0,
                .world_size = 1,
                .process = "VLLM::Worker",
                .start = 20,
                .busy = 60,
                .compute = 55})
          .Compare();
  EXPECT_THAT(table.present, ElementsAre(0));
  EXPECT_THAT(table.missing, IsEmpty());
  EXPECT_THAT(
      table.warnings,
      ElementsAre(
          "2 traces say rank 0 of 1: replicas or data-parallel engines, told apart by path"));
  EXPECT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.slowest, 1u);
  EXPECT_DOUBLE_EQ(table.busy_spread(), 0.1);
}

TEST(Ranks, FilesOfOneRankOneAfterTheOtherAreNoDataParallelEngines) {
  const RankTable table = Folder()
                              .Add({.path = "a", .rank = 0, .world_size = 1, .start = 0})
                              .Add({.path = "b", .rank = 0, .world_size = 1, .start = 100})
                              .Compare();
  EXPECT_THAT(table.warnings, ElementsAre(HasSubstr("one after the other")));
}

TEST(Ranks, OnlyTracesThatOverlapAreDataParallelEngines) {
  Folder folder;
  for (int64_t i = 0; i < 3; ++i) {
    folder.Add({.path = std::to_string(i),
                .rank = 0,
                .world_size = 1,
                .start = i == 2 ? 50 : 1000 * i,
                .busy = 10 + 20 * i});
  }
  EXPECT_THAT(
      folder.Compare().warnings,
      ElementsAre(HasSubstr("2 of them at once (replicas or data-parallel engines), the rest one"),
                  HasSubstr("of 2 recordings")));
}

TEST(Ranks, OfSeveralRecordingsAreComparedWithin) {
  Folder folder;
  for (const int64_t rank : {0, 1}) {
    folder.Add({.path = "tp2_" + std::to_string(rank),
                .rank = rank,
                .world_size = 2,
                .busy = 50 + 10 * rank,
                .compute = 40 + 5 * rank});
  }
  folder.Add({.path = "other", .rank = 0, .world_size = 1, .start = 10, .busy = 99, .compute = 99});
  folder.Add({.path = "later", .rank = 0, .world_size = 2, .start = 500, .busy = 1, .compute = 90});
  const RankTable table = folder.Compare();
  EXPECT_DOUBLE_EQ(table.least_busy, 0.5);
  EXPECT_DOUBLE_EQ(table.most_busy, 0.6);
  EXPECT_EQ(table.recordings, 3u);
  EXPECT_DOUBLE_EQ(table.least_busy_of_all, 0.01);
  EXPECT_DOUBLE_EQ(table.most_busy_of_all, 0.99);
  EXPECT_EQ(table.slowest_compute, DurationNs{45});
  EXPECT_EQ(table.median_of_others, DurationNs{40});
  ASSERT_TRUE(table.slowest);
  EXPECT_EQ(table.rows[*table.slowest].path, "tp2_1");
  const RankTable reversed = folder.CompareReversed();
  EXPECT_EQ(reversed.slowest, table.slowest);
  EXPECT_EQ(reversed.warnings, table.warnings);
}

TEST(Ranks, OfAnHourApartAreNotComparedWhereNoBaseTimeIsToldEither) {
  for (const bool has_base_time : {true, false}) {
    Folder folder;
    for (const int64_t rank : {0, 1}) {
      folder.Add({.path = std::to_string(rank),
                  .rank = rank,
                  .world_size = 2,
                  .start = rank * 3'600'000'000'000,
                  .compute = 40 + 10 * rank,
                  .has_base_time = has_base_time});
    }
    const RankTable table = folder.Compare();
    EXPECT_FALSE(table.slowest) << has_base_time;
    EXPECT_NE(table.rows[0].recording, table.rows[1].recording);
    EXPECT_THAT(table.warnings, ElementsAre(HasSubstr("of 2 recordings")));
  }
}

TEST(Ranks, ATraceThatLostItsBaseTimeHasThatOfTheOthers) {
  Folder folder;
  for (const int64_t rank : {0, 1, 2}) {
    folder.Add({.path = std::to_string(rank),
                .rank = rank,
                .world_size = 3,
                .start = 5000 + rank,
                .has_base_time = rank != 1});
  }
  EXPECT_THAT(folder.Compare().warnings, IsEmpty());
}

TEST(Ranks, OfDifferentGpusAreNotCompared) {
  Folder folder;
  for (const int64_t rank : {0, 1}) {
    folder.Add({.path = std::to_string(rank),
                .rank = rank,
                .world_size = 2,
                .compute = 40 + 10 * rank,
                .gpus = rank == 0 ? "NVIDIA H100" : "NVIDIA B200"});
  }
  const RankTable table = folder.Compare();
  EXPECT_FALSE(table.slowest);
  EXPECT_EQ(table.busy_spread(), 0);
  EXPECT_THAT(table.warnings, ElementsAre(HasSubstr("different GPUs (NVIDIA B200; NVIDIA H100)")));
}

TEST(Ranks, SlicesOfARecordingAreOneRankWhoseTimeCountsOnce) {
  // A decode slice that begins inside the prefill slice's window: 100 + 80 ns, but only 150 ns in
  // all.
  std::vector<DeviceTime> together(1);
  together[0].window = {{0}, {150}};
  together[0].busy = {75};
  together[0].compute = {70};
  Folder folder;
  folder.Add({.path = "prefill",
              .rank = 0,
              .world_size = 2,
              .busy = 50,
              .trace_id = "A",
              .together = &together});
  folder.Add({.path = "decode",
              .rank = 0,
              .world_size = 2,
              .start = 70,
              .length = 80,
              .busy = 25,
              .trace_id = "A",
              .together = &together});
  folder.Add({.path = "other", .rank = 1, .world_size = 2, .busy = 60, .trace_id = "B"});
  const RankTable table = folder.Compare();
  EXPECT_THAT(table.warnings, IsEmpty());
  EXPECT_EQ(table.rows[0].group, table.rows[1].group);
  EXPECT_EQ(table.rows[0].busy.ns + table.rows[1].busy.ns, 75);
  EXPECT_DOUBLE_EQ(table.least_busy, 0.5);
  EXPECT_DOUBLE_EQ(table.most_busy, 0.6);
  EXPECT_DOUBLE_EQ(table.least_busy_of_all, 0.5);
  EXPECT_DOUBLE_EQ(table.most_busy_of_all, 0.6);
  EXPECT_EQ(table.slowest_compute, DurationNs{70});
}

TEST(Ranks, TheRankThatWaitsLeastIsWaitedFor) {
  Folder folder;
  for (const int64_t rank : {0, 1, 2}) {
    folder.Add({.path = std::to_string(rank),
                .rank = rank,
                .world_size = 3,
                .compute = 40 + rank,
                .comm = rank == 1 ? 5 : 30,
                .exposed_comm = rank == 1 ? 4 : 25});
  }
  const std::optional<Straggler> straggler = StragglerBySums(folder.Compare());
  ASSERT_TRUE(straggler);
  EXPECT_EQ(straggler->sign, Straggler::Sign::kLeastCollectives);
  EXPECT_EQ(straggler->row, 1u);
  EXPECT_EQ(straggler->time.ns, 5);
  EXPECT_EQ(straggler->others.ns, 30);
}

// A rank with a shorter recording: its smaller times in collectives and compute prove nothing.
TEST(Ranks, ThatLostDataAreNotComparedByTheirTimes) {
  Folder folder;
  for (int64_t rank = 0; rank < 3; ++rank)
    folder.Add({.path = "r", .rank = rank, .comm = 30, .exposed_comm = 30});
  folder.Add({.path = "r3", .rank = 3, .length = 50, .compute = 20, .comm = 5, .complete = false});
  EXPECT_FALSE(StragglerBySums(folder.Compare()).has_value());
  EXPECT_EQ(folder.Compare().most_busy, 1.0) << "its share of its own window is right";
  Folder of_two;
  of_two.Add({.path = "r0", .rank = 0, .world_size = 2});
  of_two.Add({.path = "r1", .rank = 1, .world_size = 2, .compute = 20, .complete = false});
  EXPECT_FALSE(of_two.Compare().slowest.has_value());
}

TEST(Ranks, ALittleMoreComputeIsNoStraggler) {
  for (const int64_t more : {1, 2}) {
    Folder folder;
    folder.Add({.path = "a", .rank = 0, .world_size = 2})
        .Add({.path = "b", .rank = 1, .world_size = 2, .compute = 40 + more});
    EXPECT_EQ(StragglerBySums(folder.Compare()).has_value(), more == 2);
  }
}

TEST(Ranks, ReplicasDoNotWaitForEachOther) {
  const auto compare = [](const std::string& second) {
    Folder folder;
    for (const int64_t rank : {0, 1}) {
      const std::string name = "rank" + std::to_string(rank);
      folder.Add({.path = "w0/" + name, .rank = rank, .world_size = 2, .compute = 40 + 3 * rank});
      folder.Add({.path = second + name, .rank = rank, .world_size = 2, .compute = 20});
    }
    return folder.Compare();
  };
  const RankTable table = compare("w1/");
  const std::optional<Straggler> straggler = StragglerBySums(table);
  ASSERT_TRUE(straggler);
  EXPECT_EQ(table.rows[straggler->row].path, "w0/rank1");
  EXPECT_EQ(straggler->time, DurationNs{43});
  EXPECT_EQ(straggler->others, DurationNs{40}) << "of its own engine";
  EXPECT_FALSE(StragglerBySums(compare("w0/b-"))) << "nothing tells whose the ranks are";
}

TEST(Ranks, StagesOfARankAreOneRank) {
  Folder folder;
  for (const int64_t rank : {0, 1}) {
    const std::string name = "TP-" + std::to_string(rank);
    folder.Add({.path = name + "-EXTEND",
                .rank = rank,
                .world_size = 2,
                .stage = "prefill",
                .start = 0,
                .length = 100,
                .busy = 90,
                .compute = 60});
    folder.Add({.path = name + "-DECODE",
                .rank = rank,
                .world_size = 2,
                .stage = "decode",
                .start = 50,
                .length = 100,
                .busy = 30 + 20 * rank,
                .compute = 20 + 10 * rank});
  }
  const RankTable table = folder.Compare();
  EXPECT_THAT(table.present, ElementsAre(0, 1));
  EXPECT_THAT(table.missing, IsEmpty());
  EXPECT_THAT(table.warnings, IsEmpty());
  // These are figures of ranks, not of stages.
  EXPECT_DOUBLE_EQ(table.least_busy, 0.6);
  EXPECT_DOUBLE_EQ(table.most_busy, 0.7);
  EXPECT_EQ(table.slowest_compute, DurationNs{90});
  EXPECT_EQ(table.median_of_others, DurationNs{80});
  EXPECT_EQ(table.rows[0].group, table.rows[1].group);
  EXPECT_NE(table.rows[1].group, table.rows[2].group);
  ASSERT_TRUE(table.slowest.has_value());
  EXPECT_EQ(table.rows[*table.slowest].path, "TP-1-EXTEND");
}

TEST(Ranks, AStragglerIsARankNotAFileOfItsStages) {
  Folder folder;
  for (const int64_t rank : {0, 1, 2}) {
    for (const char* stage : {"decode", "prefill"}) {
      folder.Add({.path = std::to_string(rank) + stage,
                  .rank = rank,
                  .world_size = 3,
                  .stage = stage,
                  .compute = rank == 2       ? 30
                             : *stage == 'd' ? 35
                                             : 10});
    }
  }
  const RankTable table = folder.Compare();
  const std::optional<Straggler> straggler = StragglerBySums(table);
  ASSERT_TRUE(straggler);
  EXPECT_EQ(straggler->sign, Straggler::Sign::kComputesLongest);
  EXPECT_EQ(table.rows[straggler->row].rank, 2);
  EXPECT_EQ(straggler->time, table.slowest_compute);
  EXPECT_EQ(straggler->others, table.median_of_others);
  EXPECT_EQ(straggler->time, DurationNs{60});
  EXPECT_EQ(straggler->others, DurationNs{45});
}

TEST(Ranks, OneRankHasNothingToBeComparedWith) {
  const RankTable table =
      Folder()
          .Add({.path = "x-EXTEND", .rank = 0, .world_size = 1, .stage = "prefill"})
          .Add({.path = "x-DECODE", .rank = 0, .world_size = 1, .stage = "decode", .busy = 10})
          .Compare();
  EXPECT_FALSE(table.slowest.has_value());
  EXPECT_EQ(table.busy_spread(), 0.0);
  EXPECT_TRUE(CompareRanks({}).rows.empty());
}

TEST(Ranks, UnknownRanksComeLast) {
  const RankTable table =
      Folder().Add({.path = "a"}).Add({.path = "b", .rank = 0, .world_size = 1}).Compare();
  EXPECT_THAT(Paths(table), ElementsAre("b", "a"));
  EXPECT_THAT(table.warnings, ElementsAre(HasSubstr("1 trace does not say a rank")));
}

TEST(Ranks, SeveralWorldSizesAreTold) {
  const RankTable table = Folder()
                              .Add({.path = "a", .rank = 0, .world_size = 2})
                              .Add({.path = "b", .rank = 1, .world_size = 4})
                              .Compare();
  EXPECT_EQ(table.world_size, 4);
  EXPECT_THAT(table.missing, ElementsAre(MissingRanks{"", 2, 1, {{1, 1}}, 1},
                                         MissingRanks{"", 4, 1, {{0, 0}, {2, 3}}, 3}));
  EXPECT_EQ(table.missing_count(), 4);
  EXPECT_THAT(table.warnings, ElementsAre(HasSubstr("2, 4")));
}

TEST(Ranks, MissingOnesAreRangesWithATrueCount) {
  const RankTable table = Folder()
                              .Add({.path = "a", .rank = 0, .world_size = INT64_MAX})
                              .Add({.path = "b", .rank = 5, .world_size = INT64_MAX})
                              .Add({.path = "c", .rank = 6, .world_size = INT64_MAX})
                              .Compare();
  EXPECT_THAT(table.missing, ElementsAre(MissingRanks{
                                 "", INT64_MAX, 1, {{1, 4}, {7, INT64_MAX - 1}}, INT64_MAX - 3}));
}

TEST(Ranks, TheMedianOfTheOthersIsByNearestRank) {
  const RankTable table = Folder()
                              .Add({.path = "a", .rank = 0, .world_size = 3, .compute = 100})
                              .Add({.path = "b", .rank = 1, .world_size = 3, .compute = 50})
                              .Add({.path = "c", .rank = 2, .world_size = 3, .compute = 10})
                              .Compare();
  EXPECT_EQ(table.slowest, 0u);
  EXPECT_EQ(table.slowest_compute, DurationNs{100});
  EXPECT_EQ(table.median_of_others, DurationNs{10});
}

// The count in the run's line and the count that a recording proves follow the same rule.
TEST(Ranks, AreCountedOverReplicas) {
  Folder two_workers, twice, one_lost;
  for (const std::string worker : {"w0", "w1"}) {
    for (int64_t rank = 0; rank < 2; ++rank) {
      const File file{
          .path = "traces/" + worker + "/r" + std::to_string(rank), .rank = rank, .world_size = 2};
      two_workers.Add(file);
      if (worker == "w0" || rank == 0) one_lost.Add(file);
    }
  }
  for (int64_t i = 0; i < 4; ++i)
    twice.Add(
        {.path = std::to_string(i), .rank = i % 2, .world_size = 2, .start = 1'000 * (i / 2)});
  EXPECT_EQ(two_workers.Compare().ranks_with_trace, 4);
  EXPECT_EQ(two_workers.Compare().ranks_in_all, 4);
  EXPECT_EQ(one_lost.Compare().ranks_with_trace, 3);
  EXPECT_EQ(one_lost.Compare().ranks_in_all, 4);
  EXPECT_THAT(two_workers.Compare().missing, IsEmpty());
  EXPECT_THAT(one_lost.Compare().missing, ElementsAre(MissingRanks{"w1", 2, 1, {{1, 1}}, 1}));
  // Recorded one after the other they are the same ranks again.
  EXPECT_EQ(twice.Compare().ranks_in_all, 2);
}

// Two traces of rank 0 at the same time are of two engines, so a single rank 1 is not enough.
TEST(Ranks, OneOfAnEngineThatNothingNamesIsMissing) {
  const RankTable table = Folder()
                              .Add({.path = "a0", .rank = 0, .world_size = 3})
                              .Add({.path = "a1", .rank = 1, .world_size = 3})
                              .Add({.path = "b0", .rank = 0, .world_size = 3})
                              .Compare();
  EXPECT_THAT(table.missing, ElementsAre(MissingRanks{"", 3, 2, {{1, 2}}, 3}));
  EXPECT_EQ(table.ranks_with_trace, 3);
  EXPECT_EQ(table.ranks_in_all, 6);
}

// An engine that profiles by stage writes two files a rank, and so does each of its replicas.
TEST(Ranks, StagesOfReplicasBelongToTheirWorker) {
  Folder folder;
  for (const std::string worker : {"w0", "w1"}) {
    for (const std::string stage : {"prefill", "decode"})
      folder.Add({.path = "traces/" + worker + "/" + stage,
                  .rank = 0,
                  .world_size = 1,
                  .stage = stage,
                  .process = "sglang::scheduler"});
  }
  const RankTable table = folder.Compare();
  EXPECT_EQ(table.rows[0].identity.Name(), "w0 prefill");
  EXPECT_EQ(table.rows[0].group, table.rows[1].group);
  EXPECT_NE(table.rows[1].group, table.rows[2].group);
  EXPECT_EQ(table.rows[2].group, table.rows[3].group);
  EXPECT_EQ(table.ranks_in_all, 2);
}

}  // namespace
}  // namespace tacho
