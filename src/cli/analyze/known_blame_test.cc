// What simulated runs say of a rank that is late by a known time. The test is here because it needs
// the simulator, the readers and the analyses.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "cli/analyze/known_run_for_test.h"

namespace tacho {
namespace {

using simulate::KnownRun;
using simulate::KnownRunOptions;

// The run as `tacho analyze` has it, with digests.
RunAnalysis BlamedRun(const std::vector<Trace>& traces) {
  RunAnalysis run;
  for (const Trace& trace : traces) {
    run.traces.push_back(AnalyzeTrace(trace, KnownRunRules(), {.scope = {}, .digest = true}));
    run.traces.back().path = std::to_string(1000 + run.traces.size());
  }
  AnalyzeRun(run);
  return run;
}

RankTable BlamedRanks(const KnownRun& run) {
  std::vector<Trace> traces;
  for (int64_t rank = 0; rank < run.options.ranks; ++rank)
    traces.push_back(ReadKnownTrace(run, rank));
  return BlamedRun(traces).ranks;
}

void ExpectExact(const RankBlame& blame) {
  ASSERT_EQ(blame.absent, RankBlame::Absent::kNo);
  EXPECT_EQ(blame.matched_share, 1);
  int64_t suffered = 0, caused = 0;
  for (const RankBlame::Row& row : blame.table) {
    suffered += row.suffered.ns;
    caused += row.caused.ns;
  }
  EXPECT_EQ(suffered, caused);
  EXPECT_GT(suffered, 0);
}

struct LateCase {
  int64_t ranks, steps;
};
constexpr LateCase kLateCases[] = {{2, 400}, {2, 400}, {3, 300}, {4, 200}, {8, 100},
                                   {8, 100}, {16, 60}, {32, 40}, {64, 30}};

TEST(KnownBlame, ADelayIsFoundOnItsRank) {
  std::mt19937 random(52777);
  for (const LateCase& known : kLateCases) {
    KnownRunOptions options;
    options.ranks = known.ranks;
    options.steps = known.steps;
    options.layers = 2;
    options.seed = random() % 1'000'000 + 1;
    const auto who = static_cast<size_t>(random() % static_cast<uint64_t>(known.ranks));
    const int64_t late = 150'000 + static_cast<int64_t>(random() % 450'000);
    options.changes = {*simulate::ParseChange("late-rank@" + std::to_string(who) + ":" +
                                              std::to_string(late / 1000) + "us")};
    const RankTable with = BlamedRanks(*simulate::MakeKnownRun(options));
    ExpectExact(with.blame);
    const std::vector<Straggler> found = FindStragglers(with);
    ASSERT_EQ(found.size(), 1u) << known.ranks << " ranks, " << late;
    EXPECT_EQ(found[0].row, who);
    EXPECT_EQ(found[0].why, Straggler::Why::kHost);
    // The same noise, without the delay.
    const RankTable without = BlamedRanks(*simulate::WithoutChanges(options));
    ExpectExact(without.blame);
    EXPECT_TRUE(FindStragglers(without).empty());
    const double late_by =
        static_cast<double>((with.blame.table[who].late - without.blame.table[who].late).ns) /
        static_cast<double>(known.steps - 1);
    const auto expected = static_cast<double>(late / 1000 * 1000);
    EXPECT_NEAR(late_by, expected, std::max(5e3, 0.03 * expected)) << known.ranks << " ranks";
  }
}

TEST(KnownBlame, NsysAndKinetoChargeAlike) {
  KnownRunOptions options;
  options.ranks = 4;
  options.steps = 40;
  options.layers = 2;
  options.changes = {*simulate::ParseChange("late-rank@2:300us")};
  const KnownRun run = *simulate::MakeKnownRun(options);
  const RankBlame kineto = BlamedRanks(run).blame;
  const RankBlame nsys = BlamedRun(ReadKnownExport(run)).ranks.blame;
  ExpectExact(kineto);
  ExpectExact(nsys);
  ASSERT_EQ(nsys.table.size(), kineto.table.size());
  EXPECT_EQ(nsys.collectives, kineto.collectives);
  EXPECT_EQ(nsys.waits, kineto.waits);
  EXPECT_EQ(nsys.transfer, kineto.transfer);
  for (size_t i = 0; i < nsys.table.size(); ++i) {
    EXPECT_EQ(nsys.table[i].suffered, kineto.table[i].suffered);
    EXPECT_EQ(nsys.table[i].caused, kineto.table[i].caused);
    EXPECT_EQ(nsys.table[i].late, kineto.table[i].late);
    EXPECT_EQ(nsys.table[i].stands_out, kineto.table[i].stands_out);
  }
}

// 64 bytes a collective and rank.
TEST(KnownBlame, LeadUpsAreSmall) {
  KnownRunOptions options;
  options.ranks = 2;
  options.steps = 60;
  const KnownRun run = *simulate::MakeKnownRun(options);
  const TraceAnalysis trace =
      AnalyzeTrace(ReadKnownTrace(run, 0), KnownRunRules(), {.scope = {}, .digest = true});
  const LeadUps& lead_ups = trace.digest->lead_ups.at(0);
  EXPECT_LE(lead_ups.MemoryBytes(), TraceDigest::kBytesOfLeadUp * lead_ups.rows.size());
}

}  // namespace
}  // namespace tacho
