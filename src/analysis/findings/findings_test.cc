#include "analysis/findings/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "analysis/ranks/fleet_for_test.h"
#include "analysis/run_totals.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> IdsOf(const std::vector<RunFinding>& findings) {
  std::vector<std::string> ids;
  for (const RunFinding& finding : findings) ids.push_back(finding.id);
  return ids;
}

const RunFinding* With(const std::vector<RunFinding>& findings, std::string_view id) {
  const auto found = std::ranges::find(findings, id, &RunFinding::id);
  return found == findings.end() ? nullptr : &*found;
}

int64_t CostOf(const std::vector<RunFinding>& findings, std::string_view id) {
  const RunFinding* found = With(findings, id);
  return found == nullptr ? 0 : found->cost.ns;
}

// Ranks that compute, copy, idle and meet, at random; a late one in some.
FleetForTest RandomFleet(std::mt19937& random, size_t ranks) {
  const auto up_to = [&](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1;
  };
  FleetForTest fleet(ranks);
  const size_t late = random() % (2 * ranks);
  for (int i = 0; i < 40; ++i) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      fleet.Compute(rank, up_to(20'000));
      if (random() % 3 == 0) fleet.Copy(rank, up_to(5'000));
      if (random() % 3 == 0 || rank == late) fleet.Idle(rank, up_to(rank == late ? 30'000 : 4'000));
    }
    fleet.JoinAll(up_to(3'000));
  }
  return fleet;
}

TEST(Findings, CostsOfOneWholeAddUpToItAtMost) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const RunAnalysis run = RandomFleet(random, 2 + seed % 4).Finish();
    const std::vector<RunFinding> findings = FindingsOf(run);
    const DeviceTotals totals = TotalsOf(run).devices;
    std::map<FindingWhole, DurationNs> sums, wholes;
    DurationNs idle, comm;
    std::set<std::string> ids;
    for (const RunFinding& finding : findings) {
      EXPECT_TRUE(ids.insert(finding.id).second) << finding.id;
      if (!finding.known()) continue;
      EXPECT_GT(finding.cost.ns, 0) << finding.id;
      sums[finding.of] += finding.cost;
      wholes[finding.of] = finding.whole;
      if (finding.kind == RunFindingKind::kIdle) idle += finding.cost;
      if (finding.kind == RunFindingKind::kWait || finding.kind == RunFindingKind::kSkew ||
          finding.kind == RunFindingKind::kTransfer || finding.kind == RunFindingKind::kExposedComm)
        comm += finding.cost;
      DurationNs placed;
      for (const RunFinding::Place& place : finding.places) placed += place.cost;
      if (!finding.places.empty()) {
        EXPECT_EQ(placed, finding.cost) << finding.id;
      }
    }
    for (const auto& [of, sum] : sums) EXPECT_LE(sum, wholes[of]) << WholeId(of);
    EXPECT_EQ(idle, totals.idle);
    EXPECT_EQ(comm, totals.exposed_comm);
    EXPECT_EQ(CostOf(findings, "copies"), totals.exposed_copy.ns);
  }
}

TEST(Findings, TheOrderOfTheTracesDoesNotMatter) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const auto findings = [&](const std::vector<size_t>& order) {
      std::mt19937 random(seed);
      std::vector<std::pair<std::string, int64_t>> all;
      for (const RunFinding& finding : FindingsOf(RandomFleet(random, 3).Finish(order)))
        all.emplace_back(finding.id, finding.cost.ns);
      return all;
    };
    EXPECT_EQ(findings({0, 1, 2}), findings({2, 0, 1})) << seed;
  }
}

TEST(Findings, OfARankThatIsLate) {
  FleetForTest fleet(3);
  for (int i = 0; i < 20; ++i) {
    for (size_t rank = 0; rank < 3; ++rank) fleet.Compute(rank, 5'000);
    fleet.Idle(1, 8'000);
    fleet.JoinAll(1'000);
  }
  const RunAnalysis run = std::move(fleet).Finish();
  const std::vector<RunFinding> findings = FindingsOf(run);
  const RunFinding* wait = With(findings, "wait.rank-1");
  ASSERT_NE(wait, nullptr) << testing::PrintToString(IdsOf(findings));
  // The first wait has no collective before it, from which on a cause could be seen; it is for this
  // rank all the same. Two ranks wait 8 us each time.
  EXPECT_EQ(wait->cost.ns, 2 * 20 * 8'000);
  EXPECT_EQ(wait->confidence, Confidence::kMeasured);
  EXPECT_EQ(wait->rank->sign, Straggler::Sign::kCausesWaiting);
  EXPECT_EQ(wait, &findings.front());
  EXPECT_EQ(CostOf(findings, "transfer"), 3 * 20 * 1'000);
  EXPECT_EQ(CostOf(findings, "idle.host-late") + CostOf(findings, "idle.launch-latency") +
                CostOf(findings, "idle.in-launch-call"),
            20 * 8'000);
}

// Kernels beside the collectives hide some of the waiting, nobody knows which.
TEST(Findings, OfWaitsThatMayBeHiddenEachRankHasItsShare) {
  FleetForTest fleet(2);
  for (int i = 0; i < 20; ++i) {
    fleet.Compute(0, 5'000);
    fleet.Compute(1, 5'000);
    fleet.Idle(1, 8'000);
    fleet.JoinAll(1'000);
  }
  RunAnalysis run = std::move(fleet).Finish();
  const int64_t all = CostOf(FindingsOf(run), "wait.rank-1");
  const DurationNs hidden{30'000};
  DeviceTime& device = run.traces[0].devices[0];
  device.exposed_comm -= hidden;
  device.compute += hidden;
  const std::vector<RunFinding> findings = FindingsOf(run);
  EXPECT_EQ(CostOf(findings, "wait.rank-1"), all - hidden.ns);
  EXPECT_EQ(With(findings, "wait.rank-1")->confidence, Confidence::kAbout);
  EXPECT_EQ(With(findings, "transfer")->confidence, Confidence::kAtMost);
}

// The waits for a rank whose trace is missing look like transfer.
TEST(Findings, WithoutARankWaitsAreALowerBound) {
  FleetForTest fleet(3);
  for (int i = 0; i < 20; ++i) {
    for (size_t rank = 0; rank < 3; ++rank) fleet.Compute(rank, 5'000);
    fleet.Idle(1, 8'000);
    fleet.JoinAll(1'000);
  }
  RunAnalysis run = std::move(fleet).Finish();
  run.ranks.has_others = true;
  const std::vector<RunFinding> findings = FindingsOf(run);
  EXPECT_EQ(With(findings, "wait.rank-1")->confidence, Confidence::kAtLeast);
  EXPECT_EQ(With(findings, "transfer")->confidence, Confidence::kAtMost);
}

TraceAnalysis HalfIdle() {
  TraceAnalysis trace;
  DeviceTime& device = trace.devices.emplace_back();
  device.window = {{0}, {1'000}};
  device.busy = device.compute = {500};
  device.idle = {500};
  trace.idle.window = {1'000};
  trace.idle.busy = {500};
  trace.idle.causes = {{IdleCause::kHostLate, {300}, 1, {}}, {IdleCause::kQueued, {200}, 1, {}}};
  return trace;
}

TEST(Findings, NobodyIsToBlameForTimeWithoutRequests) {
  TraceAnalysis trace = HalfIdle();
  EXPECT_THAT(IdsOf(FindingsOf(trace)), ElementsAre("idle.host-late", "idle.queued"));
  EXPECT_EQ(FindingsOf(trace)[0].share(), 0.3);
  trace.idle.causes[0].cause = IdleCause::kNoRequest;
  const std::vector<RunFinding> findings = FindingsOf(trace);
  EXPECT_THAT(IdsOf(findings), ElementsAre("idle.queued"));
  EXPECT_EQ(findings[0].of, FindingWhole::kWindowWithRequests);
  EXPECT_EQ(findings[0].whole.ns, 700);
}

TEST(Findings, WhereWorkIsLostIdleTimeCannotBeTold) {
  TraceAnalysis trace = HalfIdle();
  trace.idle.known = false;
  const std::vector<RunFinding> findings = FindingsOf(trace);
  EXPECT_THAT(IdsOf(findings), ElementsAre("idle"));
  EXPECT_FALSE(findings[0].known());
  EXPECT_EQ(findings[0].because, WhyUnknown::kLostWork);
  RunAnalysis run;
  run.traces = {HalfIdle(), trace};
  EXPECT_THAT(IdsOf(FindingsOf(run)), ElementsAre("idle")) << "one trace of the run is enough";
}

TEST(Findings, BoundsFollowFromWhatIsMissing) {
  TraceAnalysis trace = HalfIdle();
  trace.idle.causes[1].cause = IdleCause::kUnknown;
  EXPECT_EQ(FindingsOf(trace)[0].confidence, Confidence::kAtLeast);
  EXPECT_EQ(FindingsOf(trace)[1].confidence, Confidence::kMeasured) << "idle, whatever the cause";
  trace.notes.Add(NoteId::kProducerLostEvents, "");
  EXPECT_EQ(FindingsOf(trace)[0].confidence, Confidence::kAbout);
  EXPECT_EQ(FindingsOf(trace)[1].confidence, Confidence::kAtMost);
  trace.integrity.clocks.push_back({.device = "0", .state = DeviceClock::State::kOff});
  EXPECT_EQ(With(FindingsOf(trace), "idle.unknown")->because, WhyUnknown::kClocks);
}

TEST(Findings, OfRequests) {
  RunAnalysis run;
  run.requests.why = JoinWhy::kJoined;
  for (const int64_t queue : {10, 40}) {
    RequestRow& row = run.requests.rows.emplace_back();
    row.id = "r" + std::to_string(queue);
    row.whole = true;
    row.parts[RequestPart::kQueue] = {queue};
    row.parts[RequestPart::kDecode] = {25};
    row.e2e = row.parts.Sum();
  }
  run.requests.rows.push_back(run.requests.rows[1]);
  run.requests.rows[2].lacks = RequestLacks::kTie;
  std::vector<RunFinding> findings = FindingsOf(run);
  ASSERT_THAT(IdsOf(findings), ElementsAre("requests.queue"));
  EXPECT_EQ(findings[0].share(), 0.5);
  EXPECT_EQ(findings[0].request, "r40");
  // Time outside of the recording is not part of what the share is of.
  run.requests.rows[0].parts[RequestPart::kUnknown] = {500};
  run.requests.rows[0].e2e = {535};
  run.requests.rows[0].outside = {500};
  findings = FindingsOf(run);
  EXPECT_EQ(findings[0].share(), 0.5);
  EXPECT_TRUE(findings[0].cut);
  EXPECT_EQ(findings[0].confidence, Confidence::kMeasured);
  run.requests.rows.erase(run.requests.rows.begin(), run.requests.rows.begin() + 2);
  EXPECT_EQ(FindingsOf(run)[0].because, WhyUnknown::kSplit);
  run.requests.why = JoinWhy::kNoClock;
  EXPECT_EQ(FindingsOf(run)[0].because, WhyUnknown::kJoin);
}

}  // namespace
}  // namespace tacho
