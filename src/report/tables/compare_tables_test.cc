#include "report/tables/compare_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/words/compare_words.h"
#include "text/table.h"

namespace tacho {
namespace {

using testing::StartsWith;

// Each figure in its own form: rates to three digits, requests as counts.
TEST(ChangedLoadNumbers, CountsAreWholeAndRatesAreNot) {
  const std::vector<NamedChange> load = {{"throughput", {3086.77, 3097.84, {}}},
                                         {"requests", {13.992642, 13.992551, {}}},
                                         {"failed", {3, 1234, {}}}};
  EXPECT_EQ(RenderText(ChangedLoadNumbersTable(load), TextStyle{.width = 80}),
            " load                    base    new    change  change %\n"
            " throughput (tokens/s)  3,087  3,098      11.1       0.4\n"
            " requests (1/s)          14.0   14.0  >-0.0001     >-0.1\n"
            " failed                     3  1,234     1,231   41033.3\n");
}

TEST(ChangedLoadNumbers, AMeanOfCountsNeedNotBeWhole) {
  const std::vector<NamedChange> load = {{"failed", {0.5, 2, 1.25}}};
  EXPECT_EQ(RenderText(ChangedLoadNumbersTable(load), TextStyle{.width = 80}),
            " load     base  new  change     ±  change %\n"
            " failed  0.500    2    1.50  1.25     300.0\n");
}

TEST(Metrics, CountsAreWholeInTheFile) {
  RunChanges changes;
  changes.load = {{"requests", {14.5, 14.25, {}}}, {"failed", {0, 2, {}}}};
  EXPECT_EQ(RenderCsv(MetricsTable(changes)),
            "metric,base,new,difference,half_width,relative,verdict\n"
            "load.requests,14.500000,14.250000,-0.250000,,-0.017241,no bounds\n"
            "load.failed,0,2,2,,,no bounds\n");
}

// Decode steps that grew by 20 us, or runs without steps.
RunChanges Slower(std::vector<NamedChange> parts) {
  RunChanges changes;
  PhaseChange& decode = changes.phases.emplace_back();
  decode.phase = Phase::kDecode;
  decode.step = {1'000'000, 1'020'000, 5'000};
  decode.mix = {0, 0, 1};
  decode.parts = std::move(parts);
  return changes;
}

TEST(CompareVerdict, NoPartIsMoreOfAStepThanAllOfIt) {
  EXPECT_EQ(CompareVerdict(Slower({{"idle.queued", {0, 15'000, 100}}})),
            "decode step 1.00 ms -> 1.02 ms (+2.00 % ± 0.50 %), +15.0 us of it in idle.queued");
  EXPECT_EQ(CompareVerdict(
                Slower({{"idle.queued", {0, 40'000, 100}}, {"idle.in-graph", {20'000, 0, 100}}})),
            "decode step 1.00 ms -> 1.02 ms (+2.00 % ± 0.50 %): idle.queued +40.0 us, "
            "idle.in-graph -20.0 us");
}

// With one run a side the bounds of parts do not cover how much runs differ.
TEST(CompareVerdict, WithinAStepThatDidNotMoveOnlyRepetitionsNameWhatDid) {
  RunChanges changes = Slower({{"idle.host", {100'000, 140'000, 100}}});
  PhaseChange& decode = changes.phases.front();
  decode.step.half_width = 50'000;
  decode.kernels = {{"k", "gemm", KernelChange::Kind::kSlower, {1'000, 2'000, 10}, 1, 1}};
  const std::string step = "decode step 1.00 ms -> 1.02 ms (+2.00 % ± 5.00 %)";
  EXPECT_EQ(
      CompareVerdict(changes),
      "one run a side, which does not tell how much runs differ: no step differs beyond noise "
      "in decode: " +
          step + ", but 1 part and 1 kernel do");
  decode.kernels.push_back({"l", "gemm", KernelChange::Kind::kGone, {1'000, 0, 10}, 1, 0});
  EXPECT_EQ(CompareVerdict(changes), step + " within noise, though 1 kernel gone");
  decode.bounds_hold_runs = true;
  EXPECT_EQ(CompareVerdict(changes), step + " within noise, though idle.host +40.0 us");
  decode.parts.clear();
  EXPECT_EQ(CompareVerdict(changes), step + " within noise, though 1 kernel gone, 1 slower");
}

TEST(CompareVerdict, SaysThatGraphsAreGone) {
  RunChanges changes = Slower({});
  changes.launches = {{"graph launches", {0.91, 0, {}}}};
  EXPECT_EQ(CompareVerdict(changes),
            "decode step 1.00 ms -> 1.02 ms (+2.00 % ± 0.50 %); graph launches 0.91 -> 0 a step");
  changes.launches = {{"graph launches", {0.91, 0.85, {}}}};
  EXPECT_EQ(CompareVerdict(changes), "decode step 1.00 ms -> 1.02 ms (+2.00 % ± 0.50 %)");
}

TEST(CompareVerdict, SaysWhyKernelsOfARecordingTakeAnotherTime) {
  RunChanges changes;
  changes.whole =
      WholeChange{{300e6, 300e6, {}}, {200e6, 180e6, {}}, {{"idle.host", {0, 20e6, {}}}}, {}};
  const auto verdict = [&](double calls, double time) {
    changes.whole->rows = {{"k", "gemm", KernelChange::Kind::kSame, {200e6, time, {}}, 100, calls}};
    return CompareVerdict(changes);
  };
  EXPECT_EQ(
      verdict(90, 180e6),
      "the window did not move (300 ms -> 300 ms): 20.0 ms less kernel time (the same kernels "
      "are called 10.0 % less often, a call takes as long), and as much more idle time (20.0 "
      "ms)");
  EXPECT_EQ(verdict(100, 180e6),
            "the window did not move (300 ms -> 300 ms): 20.0 ms less kernel time (a call takes "
            "10.0 % less, they are called as often), and as much more idle time (20.0 ms)");
  EXPECT_EQ(
      verdict(95, 180e6),
      "the window did not move (300 ms -> 300 ms): 20.0 ms less kernel time, and as much more "
      "idle time (20.0 ms)");
}

// Kernels on both sides are named as the cause only if they changed in the direction of the whole
// and account for most of it.
TEST(CompareVerdict, NamesKernelsThatAreGoneOrNewWhereTheyAreTheCause) {
  using Kind = KernelChange::Kind;
  RunChanges changes;
  const auto verdict = [&](double now, std::vector<KernelChange> rows) {
    changes.whole = WholeChange{{900e6, 900e6, {}}, {600e6, now, {}}, {}, std::move(rows)};
    const std::string text = CompareVerdict(changes);
    return text.substr(text.find(": ") + 2);
  };
  const KernelChange called_more{"shared", "gemm", Kind::kSame, {400e6, 440e6, {}}, 100, 110};
  const KernelChange gone{"vanishes", "gemm", Kind::kGone, {200e6, 0, {}}, 50, 0};
  EXPECT_EQ(verdict(440e6, {called_more, gone}),
            "160 ms less kernel time (gone: 1 kernel with 200 ms), 0 ns more idle time");
  const auto fresh = [](double time) {
    return KernelChange{"appears", "gemm", Kind::kNew, {0, time, {}}, 0, 20};
  };
  EXPECT_EQ(
      verdict(540e6, {called_more, gone, fresh(100e6)}),
      "60.0 ms less kernel time (gone: 1 kernel with 200 ms; new: 1 kernel with 100 ms), 0 ns "
      "more idle time");
  EXPECT_EQ(verdict(680e6, {called_more, fresh(40e6)}),
            "80.0 ms more kernel time, 0 ns more idle time");
  KernelChange same = called_more;
  same.time.now = same.time.base;
  same.now_calls = same.base_calls;
  EXPECT_EQ(verdict(500e6, {same, gone, fresh(100e6)}),
            "100 ms less kernel time (gone: 1 kernel with 200 ms; new: 1 kernel with 100 ms), 0 ns "
            "more idle time");
  // Next to a small kernel that is gone, the kernels on both sides are the cause.
  KernelChange small = gone;
  small.time.base = 4e6;
  EXPECT_EQ(verdict(636e6, {called_more, small}),
            "36.0 ms more kernel time (the same kernels are called 10.0 % more often, a call takes "
            "as long), 0 ns more idle time");
}

// With --anyway the cause is the lost work, not how often kernels are called.
TEST(CompareVerdict, NamesTheGpuWorkThatASideLost) {
  RunChanges changes;
  changes.whole =
      WholeChange{{300e6, 300e6, {}}, {200e6, 180e6, {}}, {{"idle.host", {0, 20e6, {}}}}, {}};
  changes.whole->rows = {{"k", "gemm", KernelChange::Kind::kSame, {200e6, 180e6, {}}, 100, 90}};
  SideEvidence& lost = changes.now.evidence;
  lost.calls = 929;
  lost.lost_calls = 400;
  EXPECT_EQ(
      CompareVerdict(changes),
      "the window did not move (300 ms -> 300 ms): 20.0 ms less kernel time, and as much more "
      "idle time (20.0 ms); the new run lost GPU work of 400 of 929 calls");
  lost.idle_known = false;
  EXPECT_EQ(CompareVerdict(changes),
            "the window did not move (300 ms -> 300 ms): 20.0 ms less kernel time; the new run "
            "lost GPU work of 400 of 929 calls");
  changes = Slower({});
  changes.base.evidence.calls = changes.base.evidence.lost_calls = 3;
  EXPECT_EQ(
      CompareVerdict(changes),
      "decode step 1.00 ms -> 1.02 ms (+2.00 % ± 0.50 %); the base lost GPU work of 3 of 3 calls, "
      "and steps that lack work are left out");
}

TEST(CompareVerdict, OfARecordingWithItselfIsNoDifference) {
  RunChanges changes;
  changes.whole = WholeChange{{5e6, 5e6, {}}, {4e6, 4e6, {}}, {}, {}};
  EXPECT_EQ(CompareVerdict(changes),
            "no difference in the window (5.00 ms), in kernel time and in idle time");
}

TEST(Metrics, WhatIsNotBeyondNoiseSaysSoInTheFile) {
  const std::string csv = RenderCsv(MetricsTable(Slower({})));
  EXPECT_NE(
      csv.find(
          "decode.step,1000000.000000,1020000.000000,20000.000000,5000.000000,0.020000,more\n"),
      std::string::npos)
      << csv;
  EXPECT_NE(csv.find("decode.mix,0.000000,0.000000,0.000000,1.000000,,within noise\n"),
            std::string::npos)
      << csv;
}

TEST(GateText, ShowsTimesInOneUnitAndNumbersWithoutPowersOfTen) {
  const auto text = [](std::string metric, Change change) {
    return GateText({"gate", std::move(metric), GateResult::Outcome::kBroken, change});
  };
  EXPECT_EQ(text("load.throughput", {1234567, 1234000, {}}),
            "failed: gate: load.throughput 1,234,567 -> 1,234,000 (-0.05 %), bounds not known");
  EXPECT_EQ(text("load.requests", {13.9926, 13.9921, {}}),
            "failed: gate: load.requests 13.993 -> 13.992 (-0.00 %), bounds not known");
  EXPECT_EQ(text("load.failed", {0, 3, {}}),
            "failed: gate: load.failed 0 -> 3 (+3), bounds not known");
  const auto step = [&](double base, double now) {
    return text("decode.step", {base, now, 1.0}).substr(std::string("failed: gate: ").size());
  };
  EXPECT_THAT(step(299'255'000, 299'260'000), StartsWith("decode.step 299.25 ms -> 299.26 ms ("));
  EXPECT_THAT(step(1'415'930, 1'424'780), StartsWith("decode.step 1.416 ms -> 1.425 ms ("));
  EXPECT_THAT(step(950'400, 1'050'000), StartsWith("decode.step 0.95 ms -> 1.05 ms ("));
  EXPECT_THAT(step(9'000, 1'050'000), StartsWith("decode.step 9.00 us -> 1.05 ms ("));
  EXPECT_EQ(GateText({"decode.step>1.02ms", "decode.step", GateResult::Outcome::kInconclusive,
                      Change{1'018'560, 1'016'050, 20'500.0}, false, "", true}),
            "inconclusive: decode.step>1.02ms: decode.step is 1.01605 ms ± 20.5 us");
  EXPECT_EQ(GateText({"step.p99>+1%", "decode.step.p99", GateResult::Outcome::kInconclusive,
                      std::nullopt, false, "too few steps"}),
            "inconclusive: step.p99>+1%: decode.step.p99 cannot be judged: too few steps");
}

}  // namespace
}  // namespace tacho
