#include "analysis/compare/compared_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "analysis/compare/compare_runs.h"

namespace tacho {
namespace {

using testing::ElementsAre;

constexpr int64_t kWhole = 1'000'000;  // ns

// A trace that holds [first, last) percent of a recording, with a step for each percent.
TraceAnalysis RankTrace(int64_t rank, int64_t world_size, int64_t first = 0, int64_t last = 100) {
  TraceAnalysis trace;
  trace.path = "run/rank" + std::to_string(rank) + ".pt.trace.json";
  trace.facts.rank = rank;
  trace.facts.world_size = world_size;
  trace.header.base_time_ns = 1'700'000'000'000'000'000;
  trace.span = {{kWhole * first / 100}, {kWhole * last / 100}};
  DeviceTime& device = trace.devices.emplace_back();
  device.device = "0";
  device.window = trace.span;
  device.busy = device.compute = device.kernel_sum = trace.span.length();
  for (int64_t at = first; at < last; ++at)
    trace.steps.steps.emplace_back().label.phase = Phase::kDecode;
  return trace;
}

RunAnalysis RunOf(std::vector<TraceAnalysis> traces) {
  RunAnalysis run;
  run.traces = std::move(traces);
  AnalyzeRun(run);
  return run;
}

// A run of `ranks` whole ranks; some hold only [0, LAST) percent.
RunAnalysis Ranks(int64_t ranks, const std::map<int64_t, int64_t>& last = {}) {
  std::vector<TraceAnalysis> traces;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const auto own = last.find(rank);
    traces.push_back(RankTrace(rank, ranks, 0, own == last.end() ? 100 : own->second));
  }
  return RunOf(std::move(traces));
}

struct Compared {
  std::vector<std::vector<int64_t>> base, now;  // numbers of the ranks, by run
  std::string left_out, is_short;
};
Compared CompareRanksOf(const std::vector<RunAnalysis>& base, const std::vector<RunAnalysis>& now,
                        bool by_steps = true) {
  const ComparedRanks ranks = RanksToCompare(base, now, by_steps);
  const auto numbers = [](const SideRanks& side) {
    std::vector<std::vector<int64_t>> of_runs;
    for (const RunRanks& run : side) {
      std::vector<int64_t>& of_run = of_runs.emplace_back();
      for (const TraceAnalysis* trace : run) of_run.push_back(trace->facts.rank.value_or(-1));
    }
    return of_runs;
  };
  return {numbers(ranks.base), numbers(ranks.now), LeftOutText(ranks.unequal),
          ShortRanksText(ranks.unequal)};
}

TEST(RanksToCompare, KeepsAllRanksThatHoldAboutTheSame) {
  for (const int64_t last : {95, 100}) {
    const Compared compared = CompareRanksOf({Ranks(3)}, {Ranks(3, {{1, last}})});
    EXPECT_THAT(compared.base, ElementsAre(ElementsAre(0, 1, 2)));
    EXPECT_THAT(compared.now, ElementsAre(ElementsAre(0, 1, 2)));
    EXPECT_EQ(compared.left_out, "");
  }
}

TEST(RanksToCompare, LeavesOutAShortRankOnBothSides) {
  for (const int64_t last : {20, 50, 90}) {
    const Compared compared = CompareRanksOf({Ranks(3)}, {Ranks(3, {{1, last}})});
    EXPECT_THAT(compared.base, ElementsAre(ElementsAre(0, 2)));
    EXPECT_THAT(compared.now, ElementsAre(ElementsAre(0, 2)));
    EXPECT_EQ(compared.left_out, "rank 1 is left out on both sides: new's holds " +
                                     std::to_string(last) + " % of the recording");
  }
  RunAnalysis late = RunOf({RankTrace(0, 2), RankTrace(1, 2, 60, 100)});
  EXPECT_EQ(CompareRanksOf({late}, {Ranks(2)}).left_out,
            "rank 1 is left out on both sides: base's holds 40 % of the recording");
  EXPECT_THAT(CompareRanksOf({late}, {late}).now, ElementsAre(ElementsAre(0)));
}

TEST(RanksToCompare, ItIsLeftOutOfAllRuns) {
  const Compared compared = CompareRanksOf({Ranks(3), Ranks(3, {{0, 30}})}, {Ranks(3), Ranks(3)});
  EXPECT_THAT(compared.base, ElementsAre(ElementsAre(1, 2), ElementsAre(1, 2)));
  EXPECT_THAT(compared.now, ElementsAre(ElementsAre(1, 2), ElementsAre(1, 2)));
}

TEST(RanksToCompare, AllShortIsAShorterRecording) {
  const Compared compared = CompareRanksOf({Ranks(2)}, {Ranks(2, {{0, 30}, {1, 31}})});
  EXPECT_THAT(compared.now, ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(compared.left_out, "");
  // One rank a side has no other one to stand for it.
  EXPECT_EQ(CompareRanksOf({Ranks(1)}, {Ranks(1, {{0, 10}})}).left_out, "");
}

// If the ranks that are unequal on either side are all ranks, each side keeps those that are whole.
TEST(RanksToCompare, SomeRankRemainsOfEachRun) {
  const Compared compared = CompareRanksOf({Ranks(2, {{0, 50}})}, {Ranks(2, {{1, 40}})});
  EXPECT_THAT(compared.base, ElementsAre(ElementsAre(1)));
  EXPECT_THAT(compared.now, ElementsAre(ElementsAre(0)));
  EXPECT_EQ(
      compared.left_out,
      "rank 0 of base is left out: it holds 50 % of the recording; rank 1 of new is left out: it "
      "holds 40 % of the recording");
}

TEST(RanksToCompare, ACutRankIsLeftOutUnlessAllAre) {
  RunAnalysis cut = Ranks(3);
  cut.traces[2].notes.Add(NoteId::kTruncatedJson, "byte 7");
  EXPECT_EQ(CompareRanksOf({Ranks(3)}, {cut}).left_out,
            "rank 2 is left out on both sides: new's is incomplete");
  for (TraceAnalysis& trace : cut.traces) trace.notes.Add(NoteId::kDamagedEvent, "byte 8");
  const Compared all = CompareRanksOf({Ranks(3)}, {cut});
  EXPECT_THAT(all.now, ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_EQ(all.left_out, "");
}

TEST(RanksToCompare, ADurationThatOverflowedIsNoFigure) {
  RunAnalysis overflow = Ranks(2);
  overflow.traces[1].notes.Add(NoteId::kLongOverlap, "");
  const Compared compared = CompareRanksOf({Ranks(2)}, {overflow});
  EXPECT_THAT(compared.base, ElementsAre(ElementsAre(0)));
  EXPECT_THAT(compared.now, ElementsAre(ElementsAre(0)));
  EXPECT_EQ(compared.left_out,
            "rank 1 is left out on both sides: new's has GPU work whose duration cannot be right");
}

TEST(RanksToCompare, LostWorkCountsIfItIsOfManySteps) {
  RunAnalysis lossy = Ranks(2);
  lossy.traces[0].notes.Add(NoteId::kLostGpuWork, "");
  lossy.traces[0].integrity.lost.lost_events = 2;
  std::vector<Step>& steps = lossy.traces[0].steps.steps;
  for (size_t i = 0; i < 5; ++i) steps[i].lost_work = true;
  EXPECT_EQ(CompareRanksOf({lossy}, {Ranks(2)}).left_out, "");
  for (size_t i = 0; i < 20; ++i) steps[i].lost_work = true;
  EXPECT_EQ(CompareRanksOf({lossy}, {Ranks(2)}).left_out,
            "rank 0 is left out on both sides: base's lost GPU work");
  lossy.traces[0].integrity.lost = {};
  EXPECT_EQ(CompareRanksOf({lossy}, {Ranks(2)}).left_out,
            "rank 0 is left out on both sides: base's lost launch calls");
  RunAnalysis untimed = Ranks(2);
  untimed.traces[1].devices.clear();
  EXPECT_EQ(CompareRanksOf({untimed}, {Ranks(2)}).left_out, "") << "it may have launched nothing";
  untimed.traces[1].notes.Add(NoteId::kTimesRefused, "");
  EXPECT_EQ(CompareRanksOf({untimed}, {Ranks(2)}).left_out,
            "rank 1 is left out on both sides: base's has no times of GPU work");
}

TEST(RanksToCompare, ARankWithoutItsFileIsLeftOutOfTheOtherSide) {
  const RunAnalysis two = RunOf({RankTrace(0, 3), RankTrace(2, 3)});
  for (const bool by_steps : {true, false}) {
    const Compared compared = CompareRanksOf({Ranks(3)}, {two}, by_steps);
    EXPECT_THAT(compared.base, ElementsAre(ElementsAre(0, 2)));
    EXPECT_THAT(compared.now, ElementsAre(ElementsAre(0, 2)));
    EXPECT_EQ(compared.left_out, "rank 1 is left out: new has no trace of it");
  }
  const RunAnalysis one = RunOf({RankTrace(0, 3)});
  EXPECT_EQ(CompareRanksOf({one}, {Ranks(3)}).left_out,
            "rank 1 and rank 2 are left out: base has no trace of them");
  // A run with fewer ranks lacks none.
  EXPECT_EQ(CompareRanksOf({Ranks(2)}, {Ranks(4)}).left_out, "");
}

// A rank that does nothing at the start of its recording, and steps as often as the others.
TEST(RanksToCompare, TheProfilersOwnMarkShowsThatARankIsWhole) {
  const auto marked = [](int64_t rank, int64_t first, int64_t profiled_from) {
    TraceAnalysis trace = RankTrace(rank, 3, first);
    trace.profiled = {{kWhole * profiled_from / 100}, {kWhole}};
    return trace;
  };
  const auto left_out = [&](TraceAnalysis other) {
    const RunAnalysis run = RunOf({marked(0, 0, 0), marked(1, 0, 0), std::move(other)});
    return CompareRanksOf({Ranks(3)}, {run}).left_out;
  };
  TraceAnalysis whole = marked(2, 10, 0);
  for (int64_t step = 0; step < 10; ++step)
    whole.steps.steps.emplace_back().label.phase = Phase::kDecode;
  EXPECT_EQ(left_out(whole), "");
  const std::string is_short =
      "rank 2 is left out on both sides: new's holds 90 % of the recording";
  EXPECT_EQ(left_out(marked(2, 10, 0)), is_short);  // it has fewer steps
  TraceAnalysis late = whole;
  late.profiled.start = {kWhole / 10};
  EXPECT_EQ(left_out(late), is_short);
  TraceAnalysis unmarked = whole;
  unmarked.profiled = {};
  EXPECT_EQ(left_out(unmarked), is_short);
  TraceAnalysis stopped = whole;
  stopped.integrity.stops.began = TimeNs{kWhole / 5};
  stopped.devices[0].window.start = {kWhole / 5};
  stopped.span.start = {};
  EXPECT_THAT(left_out(stopped), testing::HasSubstr("80 % of the recording"));
}

TEST(LeftOutText, ARankOfBothSidesIsNamedOnce) {
  EXPECT_EQ(CompareRanksOf({Ranks(3, {{1, 50}})}, {Ranks(3, {{1, 20}})}).left_out,
            "rank 1 is left out on both sides: base's holds 50 % of the recording, and new's holds "
            "20 % of the recording");
  EXPECT_EQ(CompareRanksOf({Ranks(4, {{1, 50}, {2, 50}})}, {Ranks(4, {{1, 20}})}).left_out,
            "rank 2 is left out on both sides: base's holds 50 % of the recording; rank 1 is left "
            "out on both sides: base's holds 50 % of the recording, and new's holds 20 % of the "
            "recording");
}

TEST(LeftOutText, SaysWhatIsMissingInARunAndWhatIsComparedAllTheSame) {
  const RunAnalysis without = RunOf({RankTrace(0, 2)}), other = RunOf({RankTrace(1, 2)});
  EXPECT_EQ(CompareRanksOf({Ranks(2)}, {Ranks(2), without}).left_out,
            "rank 1 is left out: a run of new has no trace of it");
  EXPECT_EQ(CompareRanksOf({Ranks(2)}, {without, without}).left_out,
            "rank 1 is left out: new has no trace of it");
  EXPECT_EQ(CompareRanksOf({without}, {other}).left_out,
            "rank 1 is compared with other ranks: base has no trace of it; rank 0 is compared with "
            "other ranks: new has no trace of it");
}

TEST(RanksToCompare, FewerStepsThanTheOthersAreAShortRankWhateverItsEventsReach) {
  const auto run_with = [](size_t steps) {
    TraceAnalysis holed = RankTrace(1, 2);
    holed.steps.steps.resize(steps);
    return RunOf({RankTrace(0, 2), std::move(holed)});
  };
  EXPECT_EQ(CompareRanksOf({Ranks(2)}, {run_with(40)}).left_out,
            "rank 1 is left out on both sides: new's holds 40 % of the steps");
  EXPECT_EQ(CompareRanksOf({Ranks(2)}, {run_with(76)}).left_out, "");
  EXPECT_EQ(CompareRanksOf({Ranks(2)}, {run_with(0)}).left_out,
            "rank 1 is left out on both sides: new's has no step");
}

TEST(RanksToCompare, AFileOfSeveralRanksLacksNone) {
  TraceAnalysis merged = RankTrace(0, 2);
  merged.facts.role = TraceRole::kMerged;
  const RunAnalysis run = RunOf({std::move(merged)});
  EXPECT_EQ(CompareRanksOf({Ranks(2)}, {run}).left_out, "");
  EXPECT_EQ(CompareRanksOf({run}, {Ranks(2)}).left_out, "");
}

TEST(RanksToCompare, OtherRanksOnTheTwoSidesAreToldApart) {
  const RunAnalysis first = RunOf({RankTrace(0, 2)}), second = RunOf({RankTrace(1, 2)});
  EXPECT_TRUE(RanksToCompare({first}, {second}, true).none_common);
  EXPECT_TRUE(RanksToCompare({Ranks(2, {{0, 50}})}, {Ranks(2, {{1, 50}})}, true).none_common);
  EXPECT_FALSE(RanksToCompare({Ranks(2, {{1, 50}})}, {Ranks(2, {{1, 50}})}, true).none_common);
  EXPECT_FALSE(RanksToCompare({Ranks(3)}, {Ranks(3)}, true).none_common);
}

// Replicas, or data-parallel engines: each ends when its own requests do.
TEST(RanksToCompare, RanksOfOneNameAreNeverShortBesideEachOther) {
  RunAnalysis replicas = RunOf({RankTrace(0, 1), RankTrace(0, 1), RankTrace(0, 1, 0, 50)});
  for (size_t i = 0; i < 3; ++i)
    replicas.traces[i].path = replicas.ranks.rows[i].path = "replica" + std::to_string(i);
  const Compared compared = CompareRanksOf({replicas}, {replicas});
  EXPECT_EQ(compared.base[0].size(), 3u);
  EXPECT_EQ(compared.now[0].size(), 3u);
}

TEST(RanksToCompare, SumsOfWholeRecordingsKeepShortRanks) {
  const Compared compared = CompareRanksOf({Ranks(3)}, {Ranks(3, {{1, 20}, {2, 50}})}, false);
  EXPECT_THAT(compared.now, ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_EQ(compared.left_out, "");
  EXPECT_EQ(compared.is_short, "rank 1 and rank 2 of new hold 20 to 50 % of the recording");
}

KernelRow CalledInAll(const char* name, uint64_t calls) {
  KernelRow row;
  row.name = name;
  row.category = "gemm.dense";
  row.stats.count = calls;
  row.stats.total = {static_cast<int64_t>(calls) * 10};
  return row;
}

TEST(CompareRuns, AShortRankIsAnotherReasonForFewerCalls) {
  RunAnalysis base = Ranks(2), now = Ranks(2, {{1, 20}});
  for (RunAnalysis* run : {&base, &now}) {
    for (TraceAnalysis& trace : run->traces) {
      trace.header.trace_id = run == &base ? "base" : "new";
      trace.steps.steps.clear();
      const auto calls = static_cast<uint64_t>(trace.span.length().ns / 1'000);
      trace.kernels.rows = {CalledInAll("a", calls), CalledInAll("b", 2 * calls)};
    }
  }
  const RunChanges changes = CompareRuns({base}, {now});
  ASSERT_FALSE(changes.obstacles.empty());
  EXPECT_EQ(changes.obstacles[0].text,
            "all of the recording: the same kernels are called 0.6 times as often in new: a model "
            "with another number of layers, or a short rank: rank 1 of new holds 20 % of the "
            "recording");
}

}  // namespace
}  // namespace tacho
